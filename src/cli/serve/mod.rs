//! The command `glee serve`, which shows the history in a browser on the same computer, or the repositories of a server
//! behind a proxy (`service`).
//!
//! The module `access` decides which HTTP requests the server answers. The module `routes` assigns the HTTP
//! requests to the functions in the module `pages`, which read the history and render the templates. A `Site` is what
//! these functions know of the repository, and its `Source` opens the history. The module `settle` records the ruling
//! that a person enters in a form. The module `feed` sends the events of running reviews to browsers.

mod access;
mod error_page;
mod feed;
mod frame;
mod pages;
mod routes;
mod server;
#[cfg(feature = "server")]
pub(crate) mod service;
mod settle;
mod site;
mod source;
mod views;

use std::io::{self, Write as _};
use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use tempfile::NamedTempFile;

use crate::cli::context::{CommandError, CommandResult, Globals, execute, place, stream};
use crate::cli::ui::browser;
use crate::cli::ui::terminal::Terminal;
use glee_model::domain::ExitReason;
use glee_protocol::text::printable;
use glee_system::private;

use access::{Access, Forms, SignIn};
use frame::Frame;
use site::Site;
use source::Source;
use views::templates::Navigation;

/// Serves until a signal ends the server. If `port` is `None`, the operating system chooses a free port.
pub(crate) fn run(globals: &Globals, port: Option<u16>, open: bool) -> CommandResult {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port.unwrap_or(0)));
    let listener = listener.map_err(|error| unavailable(port, error))?;
    listener.set_nonblocking(true)?;
    let port = listener.local_addr()?.port();
    let (access, SignIn { token, single_use }) = Access::new(port);
    let address = |token: &str| format!("http://127.0.0.1:{port}/?token={token}");
    let terminal = Terminal::new(globals.screen());
    let site = site(globals, access.base())?;
    let project = site.navigation.project.clone().unwrap_or_default();
    let mut file = None;
    let (served, _) = execute::drive(Duration::MAX, &terminal, None, |stop| {
        globals.say(format!(
            "Open the history of {project} at this address (Ctrl-C ends the server):"
        ));
        let printed = stream::out(format!("{}\n", address(&token)));
        let mut started = printed.map_err(CommandError::from);
        if started.is_ok() && open {
            started = opened(globals, &address(&single_use)).map(|opened| file = Some(opened));
        }
        async move {
            started?;
            let listener = tokio::net::TcpListener::from_std(listener)?;
            let router = routes::router(Arc::new(access), site, stop.clone());
            server::serve(listener, router, stop).await;
            Ok::<_, CommandError>(())
        }
    })?;
    drop(file);
    served?;
    globals.say("The server has ended.");
    Ok(ExitReason::Clean)
}

/// The pages of the repository of the current folder, below the path `base`.
fn site(globals: &Globals, base: &str) -> Result<Arc<Site>, CommandError> {
    let workspace = place::workspace(globals)?;
    let root = workspace.root();
    let name = root.file_name().map_or_else(
        || root.display().to_string(),
        |name| name.display().to_string(),
    );
    Ok(Arc::new(Site {
        frame: Frame::new(),
        source: Source::here(globals)?,
        navigation: Navigation {
            base: Some(base.to_owned()),
            project: Some(printable::line(&name)),
            has_repositories: false,
        },
        forms: Forms::here(),
        person: Some(workspace.person()),
    }))
}

fn unavailable(port: Option<u16>, error: io::Error) -> CommandError {
    let Some(port) = port else {
        return CommandError::caused("failed to open a port".to_owned(), error);
    };
    match error.kind() {
        io::ErrorKind::AddrInUse => CommandError::usage(format!("port {port} is in use"))
            .hint("give another port with `--port`, or omit `--port` to use a free port"),
        _ => CommandError::caused(format!("failed to open port {port}"), error)
            .hint("give a port above 1023, or omit `--port` to use a free port"),
    }
}

fn written(address: &str) -> io::Result<NamedTempFile> {
    let folder = place::state_dir()
        .map_err(|error| io::Error::other(error.message()))?
        .join("serve");
    private::folder(&folder)?;
    let mut file = tempfile::Builder::new()
        .prefix("open-")
        .suffix(".html")
        .tempfile_in(folder)?;
    writeln!(
        file,
        "<!doctype html><meta charset=\"utf-8\"><title>Glee</title>\
         <meta http-equiv=\"refresh\" content=\"0; url={address}\"><a href=\"{address}\">Open the page</a>"
    )?;
    Ok(file)
}

/// Opens the browser with a private file that redirects to the address of the server. The secret address is not
/// an argument of the browser, because all users of the computer can see the arguments of a process.
fn opened(globals: &Globals, address: &str) -> Result<NamedTempFile, CommandError> {
    let file = written(address).map_err(|error| {
        CommandError::caused(
            "failed to write the file that the browser opens".to_owned(),
            error,
        )
    })?;
    if let Err(error) = browser::open(file.path()) {
        globals.say(format!("note: no browser could be opened: {error}"));
    }
    Ok(file)
}
