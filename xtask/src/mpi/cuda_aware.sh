#!/bin/sh
# Builds an Open MPI that takes device pointers: sh cuda_aware.sh PREFIX WORK
# From Debian's source of the Open MPI that it ships, with the headers of a wheel of the CUDA runtime. Needs the
# network and a quarter of an hour on 2 cores; the system's package lists are left alone.
set -eu
prefix=$1 work=$2
rm -rf "$work"
mkdir -p "$work/lists/partial"
cd "$work"

# step NAME COMMAND...: of a command that fails the last lines are shown.
step() {
    echo "-- $1"
    shift
    "$@" >log.txt 2>&1 || { code=$?; tail -n 15 log.txt; exit $code; }
}

. /etc/os-release
echo "deb-src http://deb.debian.org/debian ${VERSION_CODENAME:?this is no Debian} main" >sources.list
apt() { apt-get -q -o Dir::Etc::sourceparts=- -o "Dir::Etc::sourcelist=$work/sources.list" -o "Dir::State::lists=$work/lists" "$@"; }
step "apt-get update" apt update
step "apt-get source openmpi" apt source --download-only openmpi
step "unpack it" tar -xf openmpi_*.orig.tar.[gx]z
step "pip download nvidia-cuda-runtime" python3 -m pip download --quiet --no-deps nvidia-cuda-runtime
step "unpack it" python3 -m zipfile -e nvidia_cuda_runtime*.whl cuda
cuda=$(dirname "$(dirname "$(ls "$work"/cuda/nvidia/cu*/include/cuda.h)")")

cd openmpi-*/
# Without what no test on one machine needs. Components are part of the libraries; a list of none would turn off
# the loading of libcuda too.
step "configure" nice ./configure --prefix="$prefix" --with-cuda="$cuda" \
    --disable-mpi-fortran --disable-oshmem --disable-mpi-java --disable-io-romio --disable-libompitrace \
    --disable-static --disable-dependency-tracking --without-verbs --without-ofi --without-ucx --without-psm2 \
    --without-portals4 --without-slurm --without-lsf --without-tm --without-sge --without-alps --without-ugni \
    --without-knem --with-hwloc=internal --with-libevent=internal --with-pmix=internal \
    --enable-mca-no-build=pml-monitoring,common-monitoring,io-ompio,common-ompio,fbtl,fcoll,fs,sharedfp,vprotocol,osc-pt2pt,btl-usnic,mtl,topo-treematch,coll-monitoring,osc-monitoring,coll-hcoll,coll-sync,crs,snapc,sstore \
    --enable-mca-dso=coll-demo CFLAGS="-O1 -g0"
step "make, about a quarter of an hour on 2 cores" nice make -s -j "$(nproc)"
step "make install" nice make -s install
OPAL_PREFIX=$prefix "$prefix/bin/ompi_info" --parsable --all | grep -q 'mpi_built_with_cuda_support:value:true$' ||
    { echo "ompi_info does not say that it was built with CUDA"; exit 1; }
rm -rf "$work"
echo "$prefix takes device pointers"
