//! What a replay takes from the record about a dispute: the route, rulings, answers of a person, and settlements.

use crate::review::findings::separation;
use crate::review::recorded::replay::Replay;
use crate::review::schedule;
use glee_model::domain::event::{DisputeEvent, EventKind};
use glee_model::domain::{
    AnsweredObjection, Dispute, DisputeNumber, FindingId, Objector, Response, Route, RulingRecord,
};
use glee_store::history::queries::rows::Binding;

impl Replay<'_> {
    /// Returns the event that chooses the route of a dispute. A recorded route that a person chose always applies.
    /// Any other recorded route applies only if the setting `review.on_dispute.default` has the same value in the
    /// record and in the replay. In all other cases, the default route of the replay applies. If this default
    /// route is `judge` and the replay has no judge, the route is `human`.
    pub(super) fn choice(&self, dispute: DisputeNumber) -> EventKind {
        let configured = self.settings.review.on_dispute.default;
        let person = self.record.chosen.get(&dispute).cloned();
        let is_taken =
            person.is_some() || self.record.settings.review.on_dispute.default == configured;
        let known = self
            .record
            .disputes
            .get(&dispute)
            .and_then(|known| known.route)
            .filter(|_| is_taken);
        let lacks_judge = configured == Route::Judge && self.state.judges().next().is_none();
        let route = known.unwrap_or(if lacks_judge {
            Route::Human
        } else {
            configured
        });
        schedule::disputes::routed(&self.state, dispute, route, person)
    }

    pub(super) fn person(&self, dispute: DisputeNumber) -> Option<EventKind> {
        let recorded = self.record.disputes.get(&dispute)?;
        let known = self.state.disputes.get(&dispute)?.answered.len();
        if let Some(answered) = recorded.answered.get(known) {
            let answered = AnsweredObjection {
                reply: None,
                ..answered.clone()
            };
            let answered = Box::new(answered);
            return Some(DisputeEvent::ObjectionAnswered { dispute, answered }.into());
        }
        let rulings = &recorded.rulings;
        let ruling = rulings
            .iter()
            .rev()
            .find(|ruling| ruling.by.is_person())?
            .clone();
        Some(DisputeEvent::RulingGiven { dispute, ruling }.into())
    }

    /// A replay allocates no numbers. A finding that a ruling leaves out has a new number only if the record has one.
    pub(super) fn ruled(&self, dispute: DisputeNumber, ruling: RulingRecord) -> Vec<EventKind> {
        let left = separation::left(&self.state, dispute, &ruling);
        let ids = left.iter().filter_map(|was| {
            let recorded = self.record.separated.get(was)?;
            Some((*was, *recorded))
        });
        let ids: Vec<(FindingId, FindingId)> = ids.collect();
        let first = left.first().and_then(|id| self.state.finding(*id));
        let context = self.context(first.map_or(1, |finding| finding.round));
        let separated = separation::separated(&context, dispute, &ruling, &ids);
        let given = DisputeEvent::RulingGiven { dispute, ruling };
        std::iter::once(given.into()).chain(separated).collect()
    }

    pub(super) fn settled(&self, dispute: DisputeNumber) -> Option<EventKind> {
        let mut settlement = schedule::disputes::settlement(&self.state, dispute)?;
        // A person can choose a more specific disposition than the ruling implies, for example an accepted risk.
        let recorded = self.record.disputes.get(&dispute);
        let disposition = recorded.and_then(|known| known.disposition.clone());
        if settlement.by.is_person()
            && let Some(disposition) = disposition
        {
            settlement.disposition = disposition;
        }
        Some(
            DisputeEvent::DisputeSettled {
                dispute,
                settlement,
            }
            .into(),
        )
    }

    /// The event that continues a dispute of an earlier run. The event omits the rulings that the recorded run
    /// added.
    pub(super) fn carried_on(
        &self,
        number: DisputeNumber,
        finding: FindingId,
    ) -> Option<EventKind> {
        let known = self.record.disputes.get(&number)?;
        let (from, rulings) = self.record.carried.get(&number)?;
        let route = known
            .route
            .filter(|_| !self.record.ruled_before.contains_key(&number));
        let mut dispute = Dispute {
            route,
            disposition: None,
            discarded_by: None,
            ..known.clone()
        };
        dispute.rulings.truncate(*rulings);
        dispute.finding = self.state.finding(finding)?.clone();
        dispute.objection.finding = finding;
        Some(
            DisputeEvent::DisputeCarriedOn {
                dispute: Box::new(dispute),
                from: from.clone(),
            }
            .into(),
        )
    }

    /// The events of the disputes that a person opened and settled after the run.
    pub(super) fn by_person(&self) -> Vec<EventKind> {
        let of_person = self.record.disputes.values();
        let of_person =
            of_person.filter(|it| matches!(it.objector, Objector::Person | Objector::Participant));
        let now = of_person.filter_map(|known| {
            let finding = self
                .now([known.finding.id])
                .concat()
                .first()
                .and_then(|id| self.state.finding(*id))?;
            let objection = Response {
                finding: finding.id,
                ..known.objection.clone()
            };
            let dispute = Box::new(Dispute {
                finding: finding.clone(),
                objection,
                ..known.clone()
            });
            Some(DisputeEvent::DisputeOpened { dispute }.into())
        });
        now.collect()
    }

    pub(super) fn bindings(&self) -> Vec<Binding> {
        let disputes = self.state.disputes.values();
        let judged = disputes.flat_map(|dispute| dispute.findings().map(move |one| (dispute, one)));
        let own = judged.filter_map(|(dispute, finding)| {
            let mut places = finding.anchored();
            let (location, anchor) = places.next()?;
            Some(Binding {
                dispute: dispute.number.into(),
                run: self.run.clone(),
                finding: finding.id,
                anchor: anchor.clone(),
                title: finding.raw.title.clone(),
                location: Some(location),
                also: places
                    .map(|(location, anchor)| (location, anchor.clone()))
                    .collect(),
                disposition: dispute.disposition.clone(),
                new_tag: dispute.new_tag(),
                rationale: dispute
                    .rulings
                    .last()
                    .map(|last| last.ruling.rationale.clone())
                    .unwrap_or_default(),
                settled_at: None,
                until: None,
                ended: None,
                is_vouched: true,
                problem: None,
                cited: dispute
                    .rulings
                    .last()
                    .map(|last| last.cited.clone())
                    .unwrap_or_default(),
                reopens: dispute.reopens(),
            })
        });
        self.earlier.iter().cloned().chain(own).collect()
    }
}
