//! `glee hook install` and `glee hook uninstall`: write and remove the script of a hook.

use std::fs::{self, Permissions};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use super::options::{HOOKS, Hook, HookOptions};
use super::{managers, script};
use crate::cli::context::{CommandError, CommandResult, Globals, one_of, place};
use crate::cli::report::paths::WorkFolder;
use glee_model::domain::ExitReason;
use glee_workspace::{HooksFolder, Workspace};

/// Install a hook of git that reviews commits or pushes
#[derive(clap::Args)]
#[command(after_help = "\
Glee writes the hook to the folder that git uses (`git rev-parse --git-path hooks`). If the folder already contains a \
hook of this name, Glee keeps this earlier hook, which then runs first. To change the options, install the hook again.

Examples:
  glee hook install pre-commit
  glee hook install post-commit
  glee hook install pre-push --mode block --timeout 5m")]
pub(crate) struct Args {
    /// The hook to install
    #[arg(value_name = "HOOK", value_parser = one_of(HOOKS))]
    hook: Hook,
    #[command(flatten)]
    options: HookOptions,
    /// Install the hook even if other repositories use the same folder of hooks, or if another program manages the
    /// hooks
    #[arg(long)]
    force: bool,
}

/// Remove a hook of Glee, and restore the earlier hook
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  glee hook uninstall pre-commit")]
pub(crate) struct UninstallArgs {
    /// The hook to remove
    #[arg(value_name = "HOOK", value_parser = one_of(HOOKS))]
    hook: Hook,
}

/// Returns the folder of the hooks. Fails in a Jujutsu repository that has no git folder. The hint then shows a
/// command that reviews without a hook.
pub(crate) fn folder(workspace: &Workspace) -> Result<HooksFolder, CommandError> {
    if !workspace.is_git()
        && workspace
            .root()
            .ancestors()
            .any(|folder| folder.join(".jj").is_dir())
    {
        return Err(CommandError::usage(
            "this is a repository of Jujutsu, which runs no hooks of git",
        )
        .hint("review before a push: `jj diff --git --from 'trunk()' | glee review --diff -`"));
    }
    Ok(workspace.hooks_folder()?)
}

/// The paths of Glee's hook and of the earlier hook.
pub(crate) struct HookFiles {
    pub(crate) own: PathBuf,
    pub(crate) earlier: PathBuf,
}

fn inode(path: &Path) -> Option<(u64, u64)> {
    let meta = fs::symlink_metadata(path).ok()?;
    Some((meta.dev(), meta.ino()))
}

impl HookFiles {
    pub(crate) fn of(folder: &HooksFolder, hook: Hook) -> Self {
        let own = folder.path.join(hook.name());
        Self {
            earlier: own.with_extension(script::EARLIER),
            own,
        }
    }

    /// Returns whether Glee wrote the installed hook, or `None` if no hook is installed.
    pub(crate) fn is_own(&self, hook: Hook) -> Result<Option<bool>, CommandError> {
        let unreadable =
            |error| CommandError::caused(format!("cannot read `{}`", self.own.display()), error);
        match fs::symlink_metadata(&self.own) {
            Err(error) if matches!(error.kind(), ErrorKind::NotFound) => Ok(None),
            Err(error) => Err(unreadable(error)),
            // Glee never installs a symbolic link as a hook. The target of a symbolic link is not read, because
            // the target can be missing.
            Ok(meta) if meta.is_symlink() => Ok(Some(false)),
            Ok(_) => Ok(Some(script::is_own(
                hook,
                &fs::read(&self.own).map_err(unreadable)?,
            ))),
        }
    }

    /// Whether the paths `own` and `earlier` are hard links to the same file. The two hard links remain if an
    /// installation is interrupted after [`keep`].
    fn is_half_kept(&self) -> bool {
        let own = inode(&self.own);
        own.is_some() && own == inode(&self.earlier)
    }
}

pub(crate) fn install(args: &Args, globals: &Globals) -> CommandResult {
    let workspace = place::workspace(globals)?;
    let hook = args.hook;
    let folder = folder(&workspace)?;
    let name = hook.name();
    hook.check(&args.options)?;
    check(args, &workspace, &folder)?;
    let files = HookFiles::of(&folder, hook);

    let is_own = files.is_own(hook)?;
    if is_own == Some(false) && files.earlier.symlink_metadata().is_ok() && !files.is_half_kept() {
        let own = files.own.display();
        let earlier = files.earlier.display();
        return Err(CommandError::usage(format!(
            "another program has replaced Glee's hook `{own}`"
        ))
        .hint(format!(
            "compare `{own}` with `{earlier}`, and remove the file that is not needed"
        )));
    }
    let mut written = fs::create_dir_all(&folder.path);
    if is_own == Some(false) && !files.is_half_kept() {
        written = written.and_then(|()| keep(&files));
    }
    let text = script::text(hook, &args.options);
    written
        .and_then(|()| write(&files.own, &text))
        .map_err(|error| {
            let own = files.own.display();
            CommandError::caused(format!("cannot write the hook `{own}`"), error)
        })?;
    let shown = WorkFolder::new(&globals.directory(), workspace.root());
    let [own, earlier] = [&files.own, &files.earlier].map(|path| {
        let inside = path.strip_prefix(workspace.root()).ok();
        match inside.and_then(Path::to_str) {
            Some(path) => shown.in_tree(path),
            None => path.display().to_string(),
        }
    });
    globals.say(format!(
        "installed `{own}` (mode `{}`)",
        args.options.mode.word()
    ));
    if files.earlier.symlink_metadata().is_ok() {
        globals.say(format!(
            "the earlier hook is kept as `{earlier}` and runs first"
        ));
    }
    if folder.is_in_tree {
        globals
            .say("the hook is a file of the work tree: commit it, so that other clones get it too");
    }
    if workspace.root().join(".jj").is_dir() {
        globals.say("note: Jujutsu runs no hooks; the hook runs only when you use git");
    }
    globals.say(format!(
        "skip the hook once with `{}`; remove the hook with `glee hook uninstall {name}`",
        hook.skip()
    ));
    Ok(ExitReason::Clean)
}

fn check(args: &Args, workspace: &Workspace, folder: &HooksFolder) -> Result<(), CommandError> {
    let name = args.hook.name();
    let path = folder.path.display();
    if folder.path.symlink_metadata().is_ok() && !folder.path.is_dir() {
        let message =
            format!("git runs no hooks here: `core.hooksPath` is `{path}`, which is not a folder");
        return Err(CommandError::usage(message)
            .hint("remove the setting: `git config --unset core.hooksPath`"));
    }
    if args.force {
        return Ok(());
    }
    managers::refuse(workspace, folder, args.hook)?;
    if !folder.is_own {
        let message = format!(
            "other repositories can use the folder of hooks `{path}` (`core.hooksPath`) too"
        );
        return Err(CommandError::usage(message).hint(format!(
            "install the hook for all repositories that use this folder with `glee hook install {name} \
             --force`, or set a folder of hooks for this repository: `git config core.hooksPath \"$(git \
             rev-parse --absolute-git-dir)/hooks\"`"
        )));
    }
    Ok(())
}

/// Keeps the existing hook under the path `earlier`, as a hard link. Until Glee's hook replaces the existing hook,
/// the path `own` also leads to the existing hook. Git therefore finds a hook at any time.
fn keep(files: &HookFiles) -> io::Result<()> {
    match fs::hard_link(&files.own, &files.earlier) {
        // Some file systems do not support hard links. Without hard links, git finds no hook until Glee's hook
        // is written.
        Err(error) if error.kind() != ErrorKind::AlreadyExists => {
            fs::rename(&files.own, &files.earlier)
        }
        linked => linked,
    }
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    let mut file = tempfile::NamedTempFile::new_in(path.parent().ok_or(ErrorKind::NotFound)?)?;
    file.write_all(text.as_bytes())?;
    file.as_file()
        .set_permissions(Permissions::from_mode(0o755))?;
    file.as_file().sync_all()?;
    file.persist(path).map(drop).map_err(|error| error.error)
}

pub(crate) fn uninstall(args: &UninstallArgs, globals: &Globals) -> CommandResult {
    let workspace = place::workspace(globals)?;
    let hook = args.hook;
    let files = HookFiles::of(&folder(&workspace)?, hook);
    let name = hook.name();
    let own = files.own.display();
    let has_earlier = files.earlier.symlink_metadata().is_ok();
    match files.is_own(hook)? {
        Some(true) => {}
        Some(false) if !has_earlier => {
            return Err(
                CommandError::usage(format!("the hook `{own}` is not a hook of Glee"))
                    .hint("if the file contains commands of Glee, remove these commands by hand"),
            );
        }
        Some(false) => {
            return Err(CommandError::usage(format!(
                "another program has replaced Glee's hook `{own}`"
            ))
            .hint(format!(
                "the hook that Glee's hook replaced is `{}`",
                files.earlier.display()
            )));
        }
        None => {
            globals.say(format!("the hook `{name}` is not installed"));
            return Ok(ExitReason::Clean);
        }
    }
    let failed = |error| CommandError::caused(format!("cannot remove the hook `{own}`"), error);
    if has_earlier {
        fs::rename(&files.earlier, &files.own).map_err(failed)?;
        globals.say(format!(
            "removed the hook `{name}`; the earlier hook is restored"
        ));
    } else {
        fs::remove_file(&files.own).map_err(failed)?;
        globals.say(format!("removed the hook `{name}`"));
    }
    Ok(ExitReason::Clean)
}
