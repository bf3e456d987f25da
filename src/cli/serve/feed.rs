//! Sends the events of running reviews to browsers. Each review runs in its own process, which appends the
//! events of the review to the history. One thread polls a history for all browsers.
//!
//! The use of memory is limited, because the thread sends events through a channel of fixed capacity. If a
//! browser reads too slowly, the server reads the missed events from the history, a limited number at a time.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Weak};
use std::thread;
use std::time::Duration;

use futures_util::{Stream, stream};
use jiff::Timestamp;
use serde::Serialize;
use tokio::sync::broadcast::{self, error::RecvError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tracing::warn;

use super::source::Source;
use crate::cli::style::duration;
use crate::cli::ui::live::event_lines::EventLines;
use crate::cli::ui::screen::{Screen, Verbosity};
use glee_model::domain::RunId;
use glee_model::domain::event::{DisputeEvent, Event, EventKind, ReviewEvent, RunEvent};
use glee_protocol::{secrets, text::printable};
use glee_store::history::JournalError;
use glee_store::history::store::Journal;

/// The number of events that the channel holds.
const CAPACITY: usize = 512;

/// The maximum number of events that the server reads from the history in one query for a browser.
const PAGE: u32 = 100;

/// The interval at which the thread reads new events from the history.
const INTERVAL: Duration = Duration::from_millis(200);

/// The pause after a failure to read new events, for example because the server is away.
const PAUSE: Duration = Duration::from_secs(2);

/// The maximum number of lines that the live view shows for one event.
const LINES: usize = 12;
/// The maximum number of characters in one of these lines.
const CHARACTERS: usize = 300;

/// An event as the live view shows it.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct LiveEvent {
    pub(crate) seq: u64,
    pub(crate) time: String,
    pub(crate) lines: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) started: Option<StartedCall>,
    /// The identifier of the call that ended. The event about the start of the call contains the same identifier
    /// in `StartedCall::call`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) finished: Option<String>,
    /// The number of the dispute that the event opened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) dispute: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ended: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct StartedCall {
    pub(crate) call: String,
    pub(crate) agent: String,
    pub(crate) role: &'static str,
    pub(crate) activity: String,
}

/// An event as JSON, which the server sends to browsers.
#[derive(Debug)]
pub(crate) struct SentEvent {
    run: RunId,
    pub(crate) seq: u64,
    pub(crate) data: String,
}

#[derive(Clone, Debug)]
enum News {
    Event(Arc<SentEvent>),
    /// Some recorded events are missing from the channel. The receiver must read these events from the history.
    Missed,
}

pub(crate) struct Feed {
    source: Source,
    sender: broadcast::Sender<News>,
    /// Limits the number of simultaneous reads of the history.
    pages: Semaphore,
}

impl Feed {
    pub(crate) fn start(source: Source) -> std::io::Result<Arc<Self>> {
        let (sender, _) = broadcast::channel(CAPACITY);
        let feed = Arc::new(Self {
            source,
            sender,
            pages: Semaphore::new(4),
        });
        let weak = Arc::downgrade(&feed);
        thread::Builder::new()
            .name("events".to_owned())
            .spawn(move || poll(&weak))?;
        Ok(feed)
    }

    /// Returns a stream of the events of a run. The stream contains only events with numbers above `after`. The
    /// stream also waits for future events. `permit` is the place of the browser.
    pub(crate) fn follow(
        self: Arc<Self>,
        run: RunId,
        after: u64,
        permit: OwnedSemaphorePermit,
    ) -> impl Stream<Item = Arc<SentEvent>> + Send + use<> {
        let reader = Reader {
            receiver: self.sender.subscribe(),
            feed: self,
            run,
            after,
            waiting: VecDeque::new(),
            has_missed: true,
            _permit: permit,
        };
        stream::unfold(reader, |mut reader| async move {
            Some((reader.next().await?, reader))
        })
    }

    async fn page(
        self: &Arc<Self>,
        run: &RunId,
        after: u64,
    ) -> Result<VecDeque<Arc<SentEvent>>, JournalError> {
        let _permit = self.pages.acquire().await;
        let feed = Arc::clone(self);
        let run = run.clone();
        let read = tokio::task::spawn_blocking(move || {
            let Some(journal) = feed.source.known()? else {
                return Ok(VecDeque::new());
            };
            let events = events(&journal, &run, after, PAGE)?;
            Ok(events
                .iter()
                .map(|event| Arc::new(sent(&run, event)))
                .collect())
        });
        read.await.unwrap_or_else(|_| Ok(VecDeque::new()))
    }
}

struct Reader {
    feed: Arc<Feed>,
    run: RunId,
    after: u64,
    waiting: VecDeque<Arc<SentEvent>>,
    receiver: broadcast::Receiver<News>,
    has_missed: bool,
    _permit: OwnedSemaphorePermit,
}

impl Reader {
    /// Returns the next event of the run. Returns `None` if the history cannot be read.
    async fn next(&mut self) -> Option<Arc<SentEvent>> {
        loop {
            if let Some(event) = self.waiting.pop_front() {
                self.after = event.seq;
                return Some(event);
            }
            if self.has_missed {
                self.waiting = match self.feed.page(&self.run, self.after).await {
                    Ok(page) => page,
                    Err(error) => {
                        warn!("the events of a run cannot be read: {error}");
                        return None;
                    }
                };
                self.has_missed = self.waiting.len() == PAGE as usize;
                continue;
            }
            match self.receiver.recv().await {
                Ok(News::Event(event)) if event.run != self.run || event.seq <= self.after => {}
                Ok(News::Event(event)) if event.seq == self.after + 1 => {
                    self.waiting.push_back(event)
                }
                Ok(News::Event(_) | News::Missed) | Err(RecvError::Lagged(_)) => {
                    self.has_missed = true
                }
                Err(RecvError::Closed) => return None,
            }
        }
    }
}

/// Polls the history until no browser follows a run in it.
fn poll(feed: &Weak<Feed>) {
    let mut follower: Option<Follower> = None;
    let mut pause = INTERVAL;
    loop {
        thread::sleep(pause);
        let Some(feed) = feed.upgrade() else { return };
        let step = match &mut follower {
            Some(follower) => follower.step(&feed.sender),
            None => Follower::start(&feed).map(|started| follower = started),
        };
        if let Err(error) = step {
            warn!("new events cannot be read: {error}");
            follower = None;
        }
        pause = match follower {
            Some(_) => INTERVAL,
            None => PAUSE,
        };
    }
}

struct Follower {
    journal: Journal,
    /// The id of the newest event that the thread has read.
    last: u64,
    lines: HashMap<RunId, EventLines>,
}

impl Follower {
    /// Returns `None` if there is no history yet.
    fn start(feed: &Feed) -> Result<Option<Self>, JournalError> {
        let Some(journal) = feed.source.journal()? else {
            return Ok(None);
        };
        let last = journal.newest()?;
        drop(feed.sender.send(News::Missed));
        Ok(Some(Self {
            journal,
            last,
            lines: HashMap::new(),
        }))
    }

    fn step(&mut self, sender: &broadcast::Sender<News>) -> Result<(), JournalError> {
        self.journal.catch_up()?;
        let newest = self.journal.newest()?;
        if newest == self.last {
            return Ok(());
        }
        if newest < self.last || newest - self.last > CAPACITY as u64 {
            self.lines.clear();
            drop(sender.send(News::Missed));
        } else {
            let Self {
                journal,
                last,
                lines,
            } = self;
            let mut unknown = Vec::new();
            journal.each_since(*last, |event| {
                if !lines.contains_key(&event.run) && !unknown.contains(&event.run) {
                    unknown.push(event.run.clone());
                }
            })?;
            for run in unknown {
                lines.insert(run.clone(), lines_of(journal, &run)?);
            }
            journal.each_since(*last, |event| {
                let Some(of_run) = lines.get_mut(&event.run) else {
                    return;
                };
                let shown = shown(of_run, event);
                let has_ended = shown.ended.is_some();
                drop(sender.send(News::Event(Arc::new(sent(&event.run, &shown)))));
                if has_ended {
                    lines.remove(&event.run);
                }
            })?;
        }
        self.last = newest;
        Ok(())
    }
}

/// Returns the events of a run after the event with the number `after`. The parameter `most` is the maximum number
/// of events.
pub(crate) fn events(
    journal: &Journal,
    run: &RunId,
    after: u64,
    most: u32,
) -> Result<Vec<LiveEvent>, JournalError> {
    let mut lines = lines_of(journal, run)?;
    let mut events = Vec::new();
    journal.each_of(run, after, most, |event| {
        events.push(shown(&mut lines, event))
    })?;
    Ok(events)
}

/// Returns the formatter that converts the events of a run to lines. The formatter first processes the plan of
/// the run, because later lines depend on the plan.
fn lines_of(journal: &Journal, run: &RunId) -> Result<EventLines, JournalError> {
    let screen = Screen {
        terminal: false,
        color: false,
        unicode: true,
        columns: Some(CHARACTERS),
        verbosity: Verbosity::Normal,
    };
    let mut lines = EventLines::new(screen);
    if let Some(plan) = journal.plan(run)? {
        let kind = EventKind::Review(ReviewEvent::RunStarted {
            plan: Box::new(plan),
        });
        lines.lines(&Event {
            run: run.clone(),
            seq: 1,
            at: Timestamp::UNIX_EPOCH,
            kind,
        });
    }
    Ok(lines)
}

fn shown(lines: &mut EventLines, event: &Event) -> LiveEvent {
    let clean = |text: &str| secrets::redact(text).into_owned();
    let mut texts: Vec<String> = Vec::new();
    let all = lines.lines(event);
    for line in all.iter().take(LINES) {
        let short: String = line.chars().take(CHARACTERS).collect();
        let cut = if short.len() < line.len() { " …" } else { "" };
        texts.push(clean(short.trim_end()) + cut);
    }
    if all.len() > LINES {
        texts.push(format!("… {} more lines", all.len() - LINES));
    }
    let mut shown = LiveEvent {
        seq: event.seq,
        time: event
            .at
            .to_zoned(jiff::tz::TimeZone::system())
            .strftime("%H:%M:%S")
            .to_string(),
        lines: texts,
        started: None,
        finished: None,
        dispute: None,
        ended: None,
    };
    match &event.kind {
        EventKind::Run(RunEvent::CallStarted { call, role, .. }) => {
            shown.started = Some(StartedCall {
                call: call.file_stem(),
                agent: clean(&printable::line(&call.agent.0)),
                role: role.as_str(),
                activity: lines.activity(call),
            });
        }
        EventKind::Run(RunEvent::CallFinished { call, .. }) => {
            shown.finished = Some(call.file_stem())
        }
        EventKind::Run(RunEvent::RunEnded { exit, millis }) => {
            shown.ended = Some(format!(
                "Ended after {} with exit code {}",
                duration(*millis),
                exit.code()
            ));
        }
        EventKind::Dispute(DisputeEvent::DisputeOpened { dispute }) => {
            shown.dispute = Some(dispute.number.0)
        }
        _ => {}
    }
    shown
}

fn sent(run: &RunId, event: &LiveEvent) -> SentEvent {
    let data = serde_json::to_string(event)
        .expect("an event of the live view has string keys only and serializes");
    SentEvent {
        run: run.clone(),
        seq: event.seq,
        data,
    }
}
