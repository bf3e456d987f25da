//! A live line on stderr for a command that waits for agents but records no events.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::cli::ui::live::progress::TICK;
use crate::cli::ui::screen::Screen;

/// Returns a spinner with an empty message. Without a terminal, the spinner prints nothing.
pub(crate) fn spinner(screen: Screen) -> ProgressBar {
    let target = if screen.is_live() {
        ProgressDrawTarget::stderr()
    } else {
        ProgressDrawTarget::hidden()
    };
    let template = if screen.unicode {
        "{spinner} {wide_msg}"
    } else {
        "{wide_msg}"
    };
    let style = ProgressStyle::with_template(template).expect("the template is a constant");
    let bar = ProgressBar::with_draw_target(None, target).with_style(style);
    bar.enable_steady_tick(TICK);
    bar
}
