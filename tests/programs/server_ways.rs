//! The way to a server: encryption that one side does not want, and Ctrl-C while the server does not answer.

use std::net::TcpListener;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::server::{answered_without_server, server};
use crate::support::{Output, Sandbox};

fn asked(address: &str) -> Output {
    let mut machine = Sandbox::new();
    machine.env("GLEE_SERVER", address);
    machine.glee(&["runs", "--all"])
}

#[test]
fn a_server_that_does_not_encrypt_is_explained() {
    let Some((postgres, _)) = server() else {
        return;
    };
    let address = postgres.address("postgres", "glee") + "?sslmode=require";
    let by_name = address.replace("127.0.0.1", "localhost");
    let plain = asked(&by_name);
    assert_eq!(plain.code, 7, "{plain}");
    insta::assert_snapshot!(plain.stderr, @"
    error: the server `localhost/glee` does not encrypt connections
    hint: let the server encrypt (`ssl = on` in postgresql.conf). In a network in which nobody else listens, `?sslmode=disable` at the end of the address does without
    ");
}

/// Presses Ctrl-C. Returns the exit code, or -1 where the signal ended the process.
fn interrupt(mut child: Child) -> i32 {
    let pid = i32::try_from(child.id()).expect("an id");
    kill(Pid::from_raw(pid), Signal::SIGINT).expect("a signal");
    let begun = Instant::now();
    let status = child.wait().expect("the child ends");
    assert!(
        begun.elapsed() < Duration::from_secs(3),
        "it ended after {:?}",
        begun.elapsed()
    );
    status.code().unwrap_or(-1)
}

#[test]
fn ctrl_c_ends_a_command_whose_server_never_answers() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let mut machine = Sandbox::new();
    machine.env(
        "GLEE_SERVER",
        format!("postgres://glee@127.0.0.1:{port}/glee"),
    );
    let child = machine
        .command(&["runs", "--all"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .expect("the binary starts");
    let _connection = listener.accept().expect("a connection");
    thread::sleep(Duration::from_millis(100));
    assert_ne!(interrupt(child), 0);
}

#[test]
fn ctrl_c_ends_a_run_whose_server_went_away() {
    let Some((postgres, address)) = server() else {
        return;
    };
    let (machine, review) = answered_without_server(&postgres, &address);
    // The run has its answer, and waits for the server.
    thread::sleep(Duration::from_secs(1));
    assert_eq!(interrupt(review), 130);
    postgres.up();
    let resumed = machine.glee(&["runs", "resume", "--no-input"]);
    assert_eq!(resumed.code, 1, "{resumed}");
}
