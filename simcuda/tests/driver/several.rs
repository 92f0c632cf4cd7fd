//! Cases with several devices: copies between them, access to each other's memory, order across them.

use super::calls::*;
use super::{Case, bad, good};
use cudarc::driver::sys;

const LOCAL: sys::CUstreamCaptureMode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;

const FOUR: &[(&str, &str)] = &[("PARTITA_SIM_DEVICES", "4")];

pub fn cases() -> Vec<Case> {
    vec![
        good("ring_of_copies", ring_of_copies).under(FOUR),
        bad("ring_without_events", ring_without_events, "race").under(FOUR),
        good("ring_in_a_graph", || ring_in_a_graph(true)).under(FOUR),
        bad("ring_in_a_graph_without_waits", || ring_in_a_graph(false), "in a graph").under(FOUR),
        bad("foreign_memory", foreign_memory, "cuCtxEnablePeerAccess").under(FOUR).seeds(5),
        good("peer_access", peer_access).under(FOUR).seeds(5),
        good("budgets_are_apart", budgets_are_apart).under(FOUR).seeds(1),
        good("pointers_know_their_device", pointers_know_their_device).under(FOUR).seeds(1),
    ]
}

struct Site {
    primary: sys::CUcontext,
    stream: sys::CUstream,
    bump: sys::CUfunction,
    /// The own numbers, and those of the neighbour.
    own: u64,
    next: u64,
    ready: sys::CUevent,
}

/// Four devices, each with its numbers plus its ordinal.
fn sites() -> Vec<Site> {
    let site = |device: i32| {
        let site = Site {
            primary: start(device),
            stream: stream(),
            bump: bump(),
            own: alloc(),
            next: alloc(),
            ready: event(),
        };
        upload(site.own, &numbers(), site.stream);
        launch(site.bump, site.own, site.own, device as u32, site.stream);
        record(site.ready, site.stream);
        site
    };
    (0..4).map(site).collect()
}

fn peer_copy(to: &Site, from: &Site, stream: sys::CUstream) {
    // SAFETY: the memory is as long as it says.
    ok(unsafe { sys::cuMemcpyPeerAsync(to.next, to.primary, from.own, from.primary, BYTES, stream) });
}

/// Every device takes its neighbour's numbers as soon as they are there.
fn ring_of_copies() {
    let sites = sites();
    for (i, site) in sites.iter().enumerate() {
        let next = &sites[(i + 1) % 4];
        choose(site.primary);
        wait(site.stream, next.ready);
        peer_copy(site, next, site.stream);
        launch(site.bump, site.next, site.next, 100, site.stream);
    }
    for (i, site) in sites.iter().enumerate() {
        choose(site.primary);
        assert_eq!(download(site.next, site.stream), plus(&numbers(), 100 + (i as u32 + 1) % 4));
    }
}

/// Three rounds of the ring as one graph, launched twice on the first device: each device adds one to its
/// numbers and then takes its neighbour's. One wait may be missing.
fn ring_in_a_graph(waiting: bool) {
    let sites = sites();
    choose(sites[0].primary);
    let begun = event();
    for site in &sites[1..] {
        wait(sites[0].stream, site.ready);
    }
    // SAFETY: the handles came from the driver.
    ok(unsafe { sys::cuStreamBeginCapture_v2(sites[0].stream, LOCAL) });
    record(begun, sites[0].stream);
    sites[1..].iter().for_each(|site| wait(site.stream, begun));
    for round in 0..3 {
        for site in &sites {
            choose(site.primary);
            launch(site.bump, site.own, site.own, 1, site.stream);
            record(site.ready, site.stream);
        }
        for (i, site) in sites.iter().enumerate() {
            let next = &sites[(i + 1) % 4];
            choose(site.primary);
            if waiting || (round, i) != (0, 0) {
                wait(site.stream, next.ready);
            }
            peer_copy(site, next, site.stream);
            record(site.ready, site.stream);
        }
        // Data that the neighbour takes may change only then.
        for (i, site) in sites.iter().enumerate() {
            wait(site.stream, sites[(i + 3) % 4].ready);
        }
    }
    for site in &sites[1..] {
        record(site.ready, site.stream);
        wait(sites[0].stream, site.ready);
    }
    let (mut graph, mut exec) = (std::ptr::null_mut(), std::ptr::null_mut());
    choose(sites[0].primary);
    // SAFETY: the handles came from the driver, the pointers are to locals.
    unsafe {
        ok(sys::cuStreamEndCapture(sites[0].stream, &mut graph));
        ok(sys::cuGraphInstantiateWithFlags(&mut exec, graph, 0));
        ok(sys::cuGraphLaunch(exec, sites[0].stream));
        ok(sys::cuGraphLaunch(exec, sites[0].stream));
    }
    if !waiting {
        return assert_eq!(sync(sites[0].stream), Code::CUDA_ERROR_LAUNCH_FAILED);
    }
    for (i, site) in sites.iter().enumerate() {
        choose(site.primary);
        record(sites[0].ready, sites[0].stream);
        wait(site.stream, sites[0].ready);
        assert_eq!(download(site.own, site.stream), plus(&numbers(), i as u32 + 6));
        assert_eq!(download(site.next, site.stream), plus(&numbers(), (i as u32 + 1) % 4 + 6));
    }
}

fn ring_without_events() {
    let sites = sites();
    peer_copy(&sites[0], &sites[1], sites[0].stream);
    let codes = [sync(sites[0].stream), sync(sites[1].stream)];
    assert!(codes.contains(&Code::CUDA_ERROR_LAUNCH_FAILED), "{codes:?}");
    assert_eq!(sync(sites[3].stream), Code::CUDA_SUCCESS, "devices without part in the race go on");
}

fn foreign_memory() {
    let sites = sites();
    ok(sync(sites[1].stream));
    choose(sites[0].primary);
    launch(sites[0].bump, sites[0].next, sites[1].own, 1, sites[0].stream);
    assert_eq!(sync(sites[0].stream), Code::CUDA_ERROR_ILLEGAL_ADDRESS);
}

fn peer_access() {
    let sites = sites();
    let mut can = 0;
    choose(sites[0].primary);
    // SAFETY: the handles came from the driver.
    unsafe {
        ok(sys::cuDeviceCanAccessPeer(&mut can, 0, 1));
        ok(sys::cuCtxEnablePeerAccess(sites[1].primary, 0));
        let again = sys::cuCtxEnablePeerAccess(sites[1].primary, 0);
        assert_eq!(again, Code::CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
    }
    assert_eq!(can, 1);
    wait(sites[0].stream, sites[1].ready);
    launch(sites[0].bump, sites[0].next, sites[1].own, 1, sites[0].stream);
    assert_eq!(download(sites[0].next, sites[0].stream), plus(&numbers(), 2));
}

fn budgets_are_apart() {
    let free = |primary| {
        choose(primary);
        let (mut free, mut total) = (0, 0);
        // SAFETY: the pointers are to locals.
        ok(unsafe { sys::cuMemGetInfo_v2(&mut free, &mut total) });
        free
    };
    let (first, second) = (start(0), start(1));
    let before = free(first);
    choose(second);
    let there = try_alloc(1 << 20).unwrap();
    assert_eq!((free(first), free(second)), (before, before - (1 << 20)));
    // SAFETY: the address is of an allocation.
    ok(unsafe { sys::cuMemFree_v2(there) });
    assert_eq!(free(second), before);
}

fn pointers_know_their_device() {
    use sys::CUpointer_attribute as Attribute;
    start(0);
    start(2);
    let (address, host) = (alloc(), pinned());
    let (mut device, mut kind, mut base, mut bytes) = (-1i32, 0u32, 0u64, 0usize);
    // SAFETY: the pointers are to locals of the attributes' types.
    unsafe {
        let ordinal = Attribute::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL;
        ok(sys::cuPointerGetAttribute((&raw mut device).cast(), ordinal, address + 4));
        ok(sys::cuMemGetAddressRange_v2(&mut base, &mut bytes, address + 4));
        let mut which = [Attribute::CU_POINTER_ATTRIBUTE_MEMORY_TYPE, ordinal];
        let mut places = [(&raw mut kind).cast(), (&raw mut device).cast()];
        ok(sys::cuPointerGetAttributes(2, which.as_mut_ptr(), places.as_mut_ptr(), address));
        assert_eq!((device, kind, base, bytes), (2, 2, address, BYTES));
        ok(sys::cuPointerGetAttributes(2, which.as_mut_ptr(), places.as_mut_ptr(), host as u64));
        assert_eq!(kind, 1);
        // The attribute that MPI libraries set on memory that they open to others.
        let (mut set, synchronous) = (1u32, Attribute::CU_POINTER_ATTRIBUTE_SYNC_MEMOPS);
        ok(sys::cuPointerSetAttribute((&raw mut set).cast(), synchronous, address));
        let pinned = sys::cuPointerSetAttribute((&raw mut set).cast(), synchronous, host as u64);
        assert_eq!(pinned, Code::CUDA_ERROR_INVALID_VALUE);
        let local = 0u8;
        let unknown =
            sys::cuPointerGetAttribute((&raw mut device).cast(), ordinal, (&raw const local) as u64);
        assert_eq!(unknown, Code::CUDA_ERROR_INVALID_VALUE);
    }
}
