/* An MPI that takes device pointers, as far as tests ask for one: it stands before the installed library
 * (LD_PRELOAD), and what lies in CUDA memory it copies with the CUDA driver that the program has loaded. On the
 * simulated driver every copy that some work has not been waited for is found, as with a library of that kind.
 *
 *   PARTITA_TEST_MPI=deny     says that it takes no device pointers, and takes them
 *   PARTITA_TEST_MPI=refuse   sends of device memory fail with an error code
 *   PARTITA_TEST_MPI=garble   one byte of what arrives in device memory is another
 */
#include <dlfcn.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned long long pointer;

static void *driver(const char *name) {
    static void *library;
    if (!library) library = dlopen("libcuda.so.1", RTLD_LAZY);
    return library ? dlsym(library, name) : NULL;
}

static int says(const char *mode) {
    const char *set = getenv("PARTITA_TEST_MPI");
    return set && !strcmp(set, mode);
}

/* Makes the device of an address current; 0 if the address is no device's. */
static int is_device(const void *address) {
    int (*attribute)(void *, int, pointer) = (int (*)(void *, int, pointer))driver("cuPointerGetAttribute");
    int (*make_current)(void *) = (int (*)(void *))driver("cuCtxSetCurrent");
    int kind = 0;
    void *owner = NULL;
    if (!attribute || attribute(&kind, 2, (pointer)address) || kind != 2) return 0;
    return !attribute(&owner, 1, (pointer)address) && !make_current(owner);
}

/* What is under way. */
struct flight {
    MPI_Request request;
    char *copy;
    void *target;
    size_t bytes;
    struct flight *next;
};
static struct flight *flights;

static void begun(MPI_Request request, char *copy, void *target, size_t bytes) {
    struct flight *flight = malloc(sizeof *flight);
    *flight = (struct flight){request, copy, target, bytes, flights};
    flights = flight;
}

int MPIX_Query_cuda_support(void) { return !says("deny"); }

int MPI_Isend(const void *from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request) {
    int (*download)(void *, pointer, size_t) = (int (*)(void *, pointer, size_t))driver("cuMemcpyDtoH_v2");
    char *copy;
    int code;
    if (!count || !is_device(from)) return PMPI_Isend(from, count, type, to, tag, comm, request);
    if (says("refuse")) return MPI_ERR_BUFFER;
    copy = malloc(count);
    if (download(copy, (pointer)from, count)) return MPI_ERR_BUFFER;
    code = PMPI_Isend(copy, count, type, to, tag, comm, request);
    if (!code) begun(*request, copy, NULL, count);
    return code;
}

int MPI_Irecv(void *to, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request *request) {
    char *copy;
    int code;
    if (!count || !is_device(to)) return PMPI_Irecv(to, count, type, from, tag, comm, request);
    copy = malloc(count);
    code = PMPI_Irecv(copy, count, type, from, tag, comm, request);
    if (!code) begun(*request, copy, to, count);
    return code;
}

static int land(struct flight *flight) {
    int (*upload)(pointer, const void *, size_t) = (int (*)(pointer, const void *, size_t))driver("cuMemcpyHtoD_v2");
    int (*finish)(void *) = (int (*)(void *))driver("cuStreamSynchronize");
    if (says("garble")) flight->copy[flight->bytes / 2] ^= 1;
    if (!is_device(flight->target)) return MPI_ERR_BUFFER;
    if (upload((pointer)flight->target, flight->copy, flight->bytes)) return MPI_ERR_BUFFER;
    return finish(NULL) ? MPI_ERR_BUFFER : MPI_SUCCESS;
}

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status) {
    MPI_Request asked = *request;
    int code = PMPI_Test(request, flag, status);
    struct flight **place = &flights, *flight;
    if (code || !*flag || asked == MPI_REQUEST_NULL) return code;
    while (*place && (*place)->request != asked) place = &(*place)->next;
    if (!(flight = *place)) return code;
    *place = flight->next;
    if (flight->target) code = land(flight);
    free(flight->copy);
    free(flight);
    return code;
}
