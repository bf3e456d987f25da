//! Enables the loopback device of a new network namespace. A new namespace has no other device, so a program inside
//! reaches its own servers and nothing else. A process of Glee's own enters one when it has its only connection.

use std::io;
use std::os::fd::AsRawFd as _;

use nix::sched::{CloneFlags, unshare};
use nix::sys::socket::{
    AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, sendto, socket,
};

const RTM_NEWLINK: u16 = 16;
const NLM_F_REQUEST: u16 = 1;
const IFF_UP: u32 = 1;
/// The index of the loopback device is 1 in every namespace.
const LOOPBACK: i32 = 1;

/// Leaves this process the connections that it has, and no way to open others. The process must have one thread. On a
/// system without namespaces, only TCP is closed, and without Landlock nothing is.
pub(crate) fn give_up() {
    let network = CloneFlags::CLONE_NEWNET;
    // A connection stays in the namespace in which it was opened.
    let is_left = unshare(network | CloneFlags::CLONE_NEWUSER).or_else(|_| unshare(network));
    if is_left.is_err() {
        super::kernel::deny_connections();
    }
}

pub(crate) fn enable_loopback() -> io::Result<()> {
    // The structures `nlmsghdr` and `ifinfomsg`.
    let mut message = Vec::new();
    message.extend(32_u32.to_ne_bytes());
    message.extend(RTM_NEWLINK.to_ne_bytes());
    message.extend(NLM_F_REQUEST.to_ne_bytes());
    message.extend([0; 8]);
    message.extend([0; 4]);
    message.extend(LOOPBACK.to_ne_bytes());
    message.extend(IFF_UP.to_ne_bytes());
    message.extend(IFF_UP.to_ne_bytes());
    let netlink = socket(
        AddressFamily::Netlink,
        SockType::Raw,
        SockFlag::SOCK_CLOEXEC,
        SockProtocol::NetlinkRoute,
    )?;
    let kernel = NetlinkAddr::new(0, 0);
    sendto(netlink.as_raw_fd(), &message, &kernel, MsgFlags::empty())?;
    Ok(())
}
