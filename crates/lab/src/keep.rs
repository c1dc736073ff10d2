//! What an agent does with a record that it keeps: until the server has confirmed it by its hash, it stays.

use crate::ask::AgentAnswer;

/// What is to become of a record on the agent's disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is sent again.
    Keep,
    /// The server has this very record.
    Remove,
    /// It stays under another name, for a person to look at, and is not sent again; why.
    SetAside(String),
}

/// What becomes of a record of this hash by an answer.
pub fn fate(sha256: &str, answer: &AgentAnswer) -> Fate {
    match answer {
        AgentAnswer::Confirmed { sha256: kept } if kept == sha256 => Fate::Remove,
        AgentAnswer::Confirmed { sha256: kept } => {
            Fate::SetAside(format!("another record of this run came first, of hash {kept}"))
        }
        AgentAnswer::Rejected { why } => Fate::SetAside(why.clone()),
        AgentAnswer::Foreign => Fate::SetAside("the server knows nothing of this run".to_owned()),
        AgentAnswer::Later { .. } | AgentAnswer::Orders { .. } | AgentAnswer::Noted => Fate::Keep,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_its_own_hash_lets_a_record_go() {
        let confirmed = |hash: &str| AgentAnswer::Confirmed { sha256: hash.to_owned() };
        assert_eq!(fate("a", &confirmed("a")), Fate::Remove);
        assert!(matches!(fate("a", &confirmed("b")), Fate::SetAside(_)));
        assert!(matches!(fate("a", &AgentAnswer::Foreign), Fate::SetAside(_)));
        assert!(matches!(fate("a", &AgentAnswer::Rejected { why: String::new() }), Fate::SetAside(_)));
        for answer in [AgentAnswer::Noted, AgentAnswer::Later { why: String::new() }] {
            assert_eq!(fate("a", &answer), Fate::Keep);
        }
    }
}
