//! The functions and constants of MPI that a wire uses, looked up in a library at run time. Three binary
//! interfaces differ in the type of a handle, in a few constants and in where a status holds its fields: that
//! of Open MPI, that of MPICH 4 and its kin, and the standard one (MPI 5.0, chapter 20).

use std::ffi::{CStr, c_char, c_int, c_void};
use std::mem::transmute_copy;

use super::symbols::Symbols;
use crate::error::{Error, Result};
use crate::wire::interface::WireError;

/// A handle that is an address: of Open MPI, and in the standard interface.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct Address(*mut c_void);

// SAFETY: a name that the library resolves; all calls with it are made under one lock.
unsafe impl Send for Address {}
// SAFETY: as for Send.
unsafe impl Sync for Address {}

/// The type of all handles of a library.
pub trait Handle: Copy + Send + Sync + 'static {
    /// The handle of this value, as wide as it may be.
    fn of(value: usize) -> Self;
}

impl Handle for Address {
    fn of(value: usize) -> Address {
        Address(std::ptr::with_exposed_provenance_mut(value))
    }
}

impl Handle for c_int {
    fn of(value: usize) -> c_int {
        value as c_int
    }
}

/// Room for the status of every library; which of its ints are the fields is a [`MpiConstants`]' matter.
#[repr(C, align(8))]
#[derive(Clone, Copy, Default)]
pub struct Status([c_int; 8]);

/// The constants that the header of a library defines.
pub struct MpiConstants<H> {
    pub comm_world: H,
    pub byte: H,
    pub errors_return: H,
    pub any_source: c_int,
    pub any_tag: c_int,
    pub tag_ub: c_int,
    pub thread_serialized: c_int,
    pub thread_multiple: c_int,
    /// Which int of a status is the source; the tag follows.
    source: usize,
}

impl<H: Handle> MpiConstants<H> {
    pub fn source(&self, status: &Status) -> c_int {
        status.0[self.source]
    }

    pub fn tag(&self, status: &Status) -> c_int {
        status.0[self.source + 1]
    }
}

/// The callbacks of an attribute, and what it calls them with.
pub type Copied<H> =
    unsafe extern "C" fn(H, c_int, *mut c_void, *mut c_void, *mut c_void, *mut c_int) -> c_int;
pub type Deleted<H> = unsafe extern "C" fn(H, c_int, *mut c_void, *mut c_void) -> c_int;

macro_rules! functions {
    ($($name:ident = $symbol:literal ($($argument:ty),*);)*) => {
        /// A library of MPI: every call returns a code, which [`Functions::checked`] makes a result of.
        pub struct Functions<H: 'static> {
            pub constants: MpiConstants<H>,
            $(pub $name: unsafe extern "C" fn($($argument),*) -> c_int,)*
        }

        impl<H: Handle> Functions<H> {
            /// `None` if the library lacks one.
            fn of(symbols: &Symbols, constants: MpiConstants<H>) -> Option<Functions<H>> {
                Some(Functions {
                    constants,
                    $($name: {
                        let found = symbols.find($symbol)?;
                        // SAFETY: the function of this name has this type in every version of MPI since 3.0,
                        // for the handles of this library.
                        unsafe { transmute_copy::<_, unsafe extern "C" fn($($argument),*) -> c_int>(&found) }
                    },)*
                })
            }
        }
    };
}

functions! {
    init_thread = c"MPI_Init_thread" (*mut c_int, *mut *mut *mut c_char, c_int, *mut c_int);
    initialized = c"MPI_Initialized" (*mut c_int);
    finalized = c"MPI_Finalized" (*mut c_int);
    finalize = c"MPI_Finalize" ();
    query_thread = c"MPI_Query_thread" (*mut c_int);
    error_string = c"MPI_Error_string" (c_int, *mut c_char, *mut c_int);
    abort = c"MPI_Abort" (H, c_int);
    comm_rank = c"MPI_Comm_rank" (H, *mut c_int);
    comm_size = c"MPI_Comm_size" (H, *mut c_int);
    comm_test_inter = c"MPI_Comm_test_inter" (H, *mut c_int);
    comm_dup = c"MPI_Comm_dup" (H, *mut H);
    comm_set_errhandler = c"MPI_Comm_set_errhandler" (H, H);
    comm_create_keyval = c"MPI_Comm_create_keyval" (Copied<H>, Deleted<H>, *mut c_int, *mut c_void);
    comm_get_attr = c"MPI_Comm_get_attr" (H, c_int, *mut c_void, *mut c_int);
    comm_set_attr = c"MPI_Comm_set_attr" (H, c_int, *mut c_void);
    isend = c"MPI_Isend" (*const c_void, c_int, H, c_int, c_int, H, *mut H);
    irecv = c"MPI_Irecv" (*mut c_void, c_int, H, c_int, c_int, H, *mut H);
    iprobe = c"MPI_Iprobe" (c_int, c_int, H, *mut c_int, *mut Status);
    test = c"MPI_Test" (*mut H, *mut c_int, *mut Status);
    get_count = c"MPI_Get_count" (*const Status, H, *mut c_int);
}

/// The functions of a library, by the type of its handles.
pub enum Interface {
    Addresses(Functions<Address>),
    Numbers(Functions<c_int>),
}

impl Interface {
    /// Those of Open MPI, whose handles are the addresses of its objects.
    pub fn of_open_mpi(symbols: &Symbols) -> Option<Interface> {
        let object = |name: &CStr| symbols.find(name).map(Address);
        let constants = MpiConstants {
            comm_world: object(c"ompi_mpi_comm_world")?,
            byte: object(c"ompi_mpi_byte")?,
            errors_return: object(c"ompi_mpi_errors_return")?,
            any_source: -1,
            any_tag: -1,
            tag_ub: 0,
            thread_serialized: 2,
            thread_multiple: 3,
            source: 0,
        };
        Functions::of(symbols, constants).map(Interface::Addresses)
    }

    /// Those of MPICH 3 and 4, of Intel MPI and of other libraries that keep their interface.
    pub fn of_mpich(symbols: &Symbols) -> Option<Interface> {
        let constants = MpiConstants {
            comm_world: c_int::of(0x4400_0000),
            byte: c_int::of(0x4c00_010d),
            errors_return: c_int::of(0x5400_0001),
            any_source: -2,
            any_tag: -1,
            tag_ub: 0x6440_0001,
            thread_serialized: 2,
            thread_multiple: 3,
            // Two ints of the count come first.
            source: 2,
        };
        Functions::of(symbols, constants).map(Interface::Numbers)
    }

    /// Those of the standard interface.
    pub fn of_standard(symbols: &Symbols) -> Option<Interface> {
        let constants = MpiConstants {
            comm_world: Address::of(0x101),
            byte: Address::of(0x247),
            errors_return: Address::of(0x143),
            any_source: -1,
            any_tag: -2,
            tag_ub: 501,
            thread_serialized: 2048,
            thread_multiple: 4096,
            source: 0,
        };
        Functions::of(symbols, constants).map(Interface::Addresses)
    }
}

impl<H: Handle> Functions<H> {
    /// A return code as a result.
    pub fn checked(&self, code: c_int) -> std::result::Result<(), WireError> {
        if code == 0 {
            return Ok(());
        }
        let (mut text, mut length) = ([0u8; 1024], 0);
        // SAFETY: longer than MPI_MAX_ERROR_STRING of every library.
        unsafe { (self.error_string)(code, text.as_mut_ptr().cast(), &mut length) };
        let message = String::from_utf8_lossy(&text[..length.clamp(0, 1024) as usize]).into_owned();
        Err(WireError(format!("MPI error {code}: {}", message.trim_end_matches('\0'))))
    }

    /// As an error of the engine.
    pub fn check(&self, code: c_int) -> Result<()> {
        self.checked(code).map_err(|error| Error::of_driver("MPI", error))
    }

    fn flag(&self, function: unsafe extern "C" fn(*mut c_int) -> c_int) -> bool {
        let mut flag = 0;
        // SAFETY: a function that may be called at any time, and a place for the answer.
        unsafe { function(&mut flag) };
        flag != 0
    }

    pub fn is_initialized(&self) -> bool {
        self.flag(self.initialized)
    }

    pub fn is_finalized(&self) -> bool {
        self.flag(self.finalized)
    }

    fn thread_level(&self) -> Result<c_int> {
        let mut provided = 0;
        // SAFETY: MPI is initialised; a place for the answer.
        self.check(unsafe { (self.query_thread)(&mut provided) }).map(|()| provided)
    }

    /// Whether a thread of ours may call the library while one of the user's does.
    pub fn takes_all_threads(&self) -> bool {
        self.thread_level().is_ok_and(|level| level >= self.constants.thread_multiple)
    }

    /// Requires that threads may call the library one after the other.
    pub fn check_threads(&self) -> Result<()> {
        let provided = self.thread_level()?;
        if provided >= self.constants.thread_serialized {
            return Ok(());
        }
        let given = format!("thread level {provided}, below {}", self.constants.thread_serialized);
        let remedy = "initialise MPI with it (in Python mpi4py.rc.thread_level = 'serialized', with rsmpi \
                      initialize_with_threading(Threading::Serialized)), or let Partita do it";
        Err(Error::invalid("MPI", "thread support MPI_THREAD_SERIALIZED", given, remedy))
    }
}
