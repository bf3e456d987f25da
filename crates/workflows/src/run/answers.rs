//! Parses an agent's output in the format that the request requires.

use std::io::{self, BufRead};

use jiff::Timestamp;

use glee_model::domain::RulingRef;
use glee_model::domain::event::CallAnswer;
use glee_protocol::replies::close::{self, CloseAnswer};
use glee_protocol::replies::review::{self, reader};
use glee_protocol::replies::{compare, debate, peer_review, recheck, response, ruling, stage};
use glee_protocol::request::{Request, Task};

pub fn read(answer: impl BufRead, request: &Request) -> io::Result<CallAnswer> {
    let nonce = Some(request.nonce.as_str());
    Ok(match &request.task {
        Task::Review { files, rulings, .. } => {
            let shown: Vec<RulingRef> = rulings
                .iter()
                .map(|ruling| ruling.dispute.clone())
                .collect();
            let paths = review::Paths::new(files.iter().map(|file| file.path.as_str()));
            let read = reader::parse_of(answer, nonce, &paths, &shown)?;
            CallAnswer::Review {
                status: read.status,
                notes: read.said(),
                findings: read.findings,
                problem: read.problem,
                read: read.read,
                is_doubtful: read.is_doubtful,
            }
        }
        Task::Close { .. } => match close::parse(answer, nonce)? {
            Ok(CloseAnswer { findings, read }) => CallAnswer::Close { findings, read },
            Err(error) => CallAnswer::Invalid {
                error: error.to_string(),
            },
        },
        Task::Same { .. } => {
            let read = compare::parse_pairs(answer, nonce, &request.task.pairs())?;
            if read.entries.is_empty() || !read.complete {
                CallAnswer::Invalid {
                    error: problem(read.problems, "no readable answer about any pair"),
                }
            } else {
                CallAnswer::Same {
                    pairs: read.entries,
                }
            }
        }
        Task::Examine { findings, .. } => {
            let names = debate::names(findings);
            let (read, observations) =
                debate::examine(answer, nonce, &request.task.findings(), &names)?;
            if read.entries.is_empty() || !read.complete {
                CallAnswer::Invalid {
                    error: problem(read.problems, "no readable result for any finding"),
                }
            } else {
                CallAnswer::Examine {
                    examinations: read.entries,
                    observations,
                }
            }
        }
        Task::Defend { challenged, .. } => {
            let names = debate::names(challenged.iter().map(|item| &item.finding));
            let read = debate::defend(answer, nonce, &request.task.findings(), &names)?;
            if read.entries.is_empty() || !read.complete {
                CallAnswer::Invalid {
                    error: problem(read.problems, "no readable result for any finding"),
                }
            } else {
                CallAnswer::Defend {
                    defences: read.entries,
                }
            }
        }
        Task::Respond { .. } => {
            let read = response::parse(answer, nonce, Some(&request.task.findings()))?;
            if !read.complete {
                CallAnswer::Invalid {
                    error: problem(read.problems, "no readable response to any finding"),
                }
            } else {
                CallAnswer::Respond {
                    responses: read.entries,
                    complete: read.complete,
                }
            }
        }
        Task::Judge { dispute, .. } => match ruling::parse(answer, nonce, dispute.number)? {
            Ok(ruling) => CallAnswer::Judge { ruling },
            Err(error) => CallAnswer::Invalid {
                error: error.to_string(),
            },
        },
        Task::Recheck { .. } => {
            let read = recheck::parse(answer, nonce, Some(&request.task.findings()))?;
            if read.entries.is_empty() || !read.complete {
                CallAnswer::Invalid {
                    error: problem(read.problems, "no readable result for any finding"),
                }
            } else {
                CallAnswer::Recheck {
                    checks: read.entries,
                }
            }
        }
        Task::Compare { .. } => {
            let read = compare::parse(answer, nonce, &request.task.findings())?;
            if read.entries.is_empty() || !read.complete {
                CallAnswer::Invalid {
                    error: problem(read.problems, "no readable result for any finding"),
                }
            } else {
                CallAnswer::Compare {
                    comparisons: read.entries,
                }
            }
        }
        task @ (Task::Stage { .. }
        | Task::Aggregate { .. }
        | Task::Arbitrate { .. }
        | Task::Questions { .. }
        | Task::Validate { .. }) => match stage::parse(answer, nonce, task)? {
            Ok(said) => CallAnswer::Stage {
                said: Box::new(said),
            },
            Err(error) => CallAnswer::Invalid {
                error: error.to_string(),
            },
        },
        Task::Work { .. } => match peer_review::work(answer)? {
            Some(said) => CallAnswer::Work { said },
            None => CallAnswer::Invalid {
                error: "the answer is empty".to_owned(),
            },
        },
        Task::Peer { request, .. } => {
            match peer_review::parse(answer, nonce, request, Timestamp::now())? {
                Ok(review) => CallAnswer::Peer {
                    review: Box::new(review),
                },
                Err(error) => CallAnswer::Invalid {
                    error: error.to_string(),
                },
            }
        }
    })
}

pub fn problem(problems: Vec<String>, otherwise: &str) -> String {
    if problems.is_empty() {
        otherwise.to_owned()
    } else {
        problems.join("; ")
    }
}
