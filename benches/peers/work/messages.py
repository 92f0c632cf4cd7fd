"""Messages between two ranks: what MPI and NCCL need without any library on top. Knows neither."""

SIZES = {"message": 16, "message_1MiB": 1 << 20}
TRIPS = 200  # there and back, in one call


class MessageJob:
    """A call sends `TRIPS` messages there and back; a peer's time is that of one message, one way."""

    kind, offered = "message", True

    def __init__(self, name):
        self.name, self.dtype, self.bytes = name, "f32", SIZES[name]

    def check(self, run):
        """Every message carries its number, and the ranks compare it."""
        run()
        return 0.0
