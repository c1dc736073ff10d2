//! Groups of parameters that are exchanged as one. Every parameter of a model file belongs to exactly one of them; a test asks
//! the model files for their parameters.

/// Parameters that stand for one property of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// Its name in a record.
    pub name: &'static str,
    /// What people call it.
    pub words: &'static str,
    /// Its parameters by their paths in a model file. The path of a section stands for all that is in it.
    pub paths: &'static [&'static str],
}

const fn group(name: &'static str, words: &'static str, paths: &'static [&'static str]) -> Group {
    Group { name, words, paths }
}

/// The section that is exchanged as one where the two devices map in different ways: no parameter of one has a meaning in the
/// other.
pub(crate) const FAMILY: usize = 0;
/// The section that [`FAMILY`] stands for.
pub(crate) const MAPPING: &str = "mapping";
/// Tells the families apart.
pub(crate) const KIND: &str = "mapping.kind";

/// All groups.
pub const GROUPS: [Group; 25] = [
    group("mapping", "mapping as a whole", &[KIND]),
    group(
        "link",
        "link speed",
        &["link.command", "link.bytes_per_s", "link.max_request", "link.queue_depth", "mapping.full_duplex"],
    ),
    group("flush", "flush cost", &["link.flush", "link.durable_write"]),
    group(
        "page_and_unit",
        "page and unit",
        &[
            "mapping.unit",
            "mapping.hidden",
            "mapping.sub_unit",
            "mapping.page",
            "mapping.page_inner",
            "mapping.stripe",
            "mapping.read.chunk",
        ],
    ),
    group("open_units_sequential", "open units, sequential", &["mapping.logs_in_order"]),
    group("open_units_random", "open units, random", &["mapping.logs_random", "mapping.random_log", "mapping.stream"]),
    group("merge", "merge cost", &["mapping.merge"]),
    group("small_writes", "small-write path", &["mapping.small"]),
    group("fast_area", "fast area", &["mapping.areas"]),
    group("write_buffer", "write buffer", &["write_buffer", "mapping.buffer"]),
    group("read_buffer", "read buffer and read-ahead", &["read_buffer", "read_ahead"]),
    group("slc_cache", "SLC cache", &["mapping.slc", "mapping.nand.slc_read", "mapping.nand.slc_program"]),
    group("map_reach", "mapping-table reach", &["mapping.map_cache"]),
    group("stalls", "collection stalls and housekeeping", &["mapping.housekeeping", "mapping.collection"]),
    group("spare", "spare space", &["mapping.spare_units", "mapping.nand.blocks_per_plane", "mapping.nand.bad_blocks"]),
    group("size", "size and logical block", &["device.capacity", "device.logical_block"]),
    group("program", "program time", &["mapping.program", "mapping.nand.program", "mapping.nand.erase"]),
    group(
        "read",
        "read time",
        &[
            "mapping.read.decode",
            "mapping.read.sense",
            "mapping.read.inner_edge",
            "mapping.read.sub_unit_edge",
            "mapping.read.unit_edge",
            "mapping.read.unit_switch",
            "mapping.read.small_lookup",
            "mapping.nand.read",
            "mapping.nand.multi_plane_read",
        ],
    ),
    group(
        "parallel",
        "parallel units and flash blocks",
        &[
            "mapping.nand.channels",
            "mapping.nand.dies_per_channel",
            "mapping.nand.planes",
            "mapping.nand.page",
            "mapping.nand.pages_per_block",
            "mapping.nand.bits_per_cell",
        ],
    ),
    group(
        "controller",
        "controller and flash bus",
        &["mapping.processing", "mapping.issue", "mapping.nand.bus_bytes_per_s"],
    ),
    group("discard", "discard", &["discard"]),
    group("wear", "wear", &["ageing", "mapping.nand.endurance"]),
    group("faults", "faults", &["fault"]),
    group("surroundings", "state at the start and noise around it", &["state", "noise"]),
    group("identity", "name and claims", &["title", "device.product", "device.kind", "device.claims"]),
];

/// Groups that are exchanged together where both differ, as one without the other would be another amount of flash: of drives
/// that map by page, spare space is what the flash has beyond the size.
pub(crate) const TOGETHER: [(&str, &str); 2] = [("parallel", "spare"), ("spare", "size")];

/// Whether `path` is `own`, or lies in the section `own`.
pub(crate) fn covers(own: &str, path: &str) -> bool {
    path.strip_prefix(own).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use toml::{Table, Value};

    /// The fields that a section may have, as its reader names them when it meets one that it does not know.
    fn fields(file: &Table, section: &[&str]) -> Vec<String> {
        const STRANGE: &str = "no_such_parameter";
        let mut file = file.clone();
        let mut place = &mut file;
        for step in section {
            let entry = place.entry((*step).to_owned()).or_insert_with(|| Value::Table(Table::new()));
            let Value::Table(inner) = entry else { panic!("{section:?} is no section") };
            place = inner;
        }
        place.insert(STRANGE.to_owned(), Value::Integer(1));
        let text = toml::to_string(&file).unwrap();
        let why =
            flashscope_sim::open_with("m.toml", 1, |_| Ok(text.clone())).expect_err("a strange field").to_string();
        let (_, expected) = why.split_once("expected").unwrap_or_else(|| panic!("{section:?}: {why}"));
        let expected = expected.split("hint:").next().unwrap();
        expected.split('`').skip(1).step_by(2).map(str::to_owned).collect()
    }

    /// Sections whose fields are told apart by the groups.
    const TAKEN_APART: [&[&str]; 6] =
        [&[], &["device"], &["link"], &["mapping"], &["mapping", "read"], &["mapping", "nand"]];

    #[test]
    fn every_parameter_belongs_to_exactly_one_group() {
        let mut known = BTreeSet::new();
        for entry in flashscope_sim::catalogue() {
            let file: Table = entry.toml.parse().unwrap();
            for section in TAKEN_APART {
                if section == ["mapping", "nand"] && !entry.toml.contains("page-map") {
                    continue;
                }
                if section == ["mapping", "read"] && entry.toml.contains("page-map") {
                    continue;
                }
                let found = fields(&file, section);
                assert!(!found.is_empty(), "{}: {section:?}", entry.name);
                let path =
                    |field: &String| section.iter().copied().chain([field.as_str()]).collect::<Vec<_>>().join(".");
                known.extend(found.iter().map(path));
            }
            known.insert(KIND.to_owned());
        }
        for path in &known {
            let steps: Vec<&str> = path.split('.').collect();
            if TAKEN_APART.contains(&&steps[..]) {
                continue;
            }
            let of: Vec<&str> = GROUPS
                .iter()
                .filter(|group| group.paths.iter().any(|own| covers(own, path)))
                .map(|group| group.name)
                .collect();
            assert_eq!(of.len(), 1, "{path} belongs to {of:?}: give it a group in groups.rs");
        }
        for group in &GROUPS {
            for path in group.paths {
                assert!(known.contains(*path), "{path} of {} is no parameter of a model", group.name);
            }
        }
    }
}
