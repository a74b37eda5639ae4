use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use headroom_datalayer::Timestamp;
use headroom_exposition::parse;

use super::{Card, GpuSelector, Inventory, PciBusId, Refresh, Unmatched};
use crate::extract::Families;

const SENT: Timestamp = Timestamp::from_millis(1_764_403_400_000);
const UTIL: &str = "GPUUtilization";
const FREE: &str = "GPUMemoryFreeBytes";
const USED: &str = "GPUMemoryUsedBytes";

fn uuids(uuids: &[&str]) -> GpuSelector {
    GpuSelector::Uuids(uuids.iter().map(|uuid| uuid.to_lowercase()).collect())
}

fn slot(text: &str) -> GpuSelector {
    GpuSelector::PciBusIds([PciBusId::parse(text).expect("a slot")].into())
}

fn labels(labels: &[(&str, &str)]) -> GpuSelector {
    GpuSelector::Labels(
        labels.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
    )
}

fn pod(namespace: &str, name: &str) -> GpuSelector {
    labels(&[("namespace", namespace), ("pod", name)])
}

/// The attributes that a selector gets from a scrape.
fn select(text: &str, selector: &GpuSelector) -> BTreeMap<String, f64> {
    let parsed = parse(text);
    assert_eq!(parsed.errors, []);
    let families = Families::new(&parsed, SENT);
    let facts = inventory(&families).extract(selector, &mut BTreeSet::new()).facts;
    facts
        .into_iter()
        .map(|(attribute, sample)| (attribute.into_owned(), sample.value.as_number().expect("a number")))
        .collect()
}

/// The GPUs of an exporter's first scrape, measured when it was sent.
fn inventory<'p>(families: &Families<'p>) -> Inventory<'p> {
    Inventory::new(families, &mut Refresh::default(), Duration::ZERO)
}

fn check(text: &str, selector: &GpuSelector, expected: &[(&'static str, f64)]) {
    let expected = expected.iter().map(|(attribute, number)| ((*attribute).to_owned(), *number)).collect();
    assert_eq!(select(text, selector), expected, "{selector:?}");
}

#[test]
fn profiling_fields_are_preferred_and_memory_is_in_mebibytes() {
    let text = r#"
DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-a",namespace="s",pod="q-0"} 95
DCGM_FI_DEV_GPU_UTIL{gpu="1",UUID="GPU-b",namespace="s",pod="q-1"} 40
DCGM_FI_PROF_GR_ENGINE_ACTIVE{gpu="0",UUID="GPU-a",namespace="s",pod="q-0"} 0.75
DCGM_FI_PROF_SM_ACTIVE{gpu="0",UUID="GPU-a",namespace="s",pod="q-0"} 0.5
DCGM_FI_PROF_PIPE_TENSOR_ACTIVE{gpu="0",UUID="GPU-a",namespace="s",pod="q-0"} 0.25
DCGM_FI_PROF_DRAM_ACTIVE{gpu="0",UUID="GPU-a",namespace="s",pod="q-0"} 0.125
DCGM_FI_DEV_FB_USED{gpu="0",UUID="GPU-a",namespace="s",pod="q-0"} 3
DCGM_FI_DEV_FB_FREE{gpu="0",UUID="GPU-a",namespace="s",pod="q-0"} 1
DCGM_FI_DEV_FB_TOTAL{gpu="0",UUID="GPU-a",namespace="s",pod="q-0"} 4
DCGM_FI_DEV_POWER_USAGE{gpu="0",UUID="GPU-a",namespace="s",pod="q-0"} 612.5
DCGM_FI_DEV_GPU_TEMP{gpu="0",UUID="GPU-a",namespace="s",pod="q-0"} 67
DCGM_FI_DEV_MEM_COPY_UTIL{gpu="0",UUID="GPU-a",namespace="s",pod="q-0"} 99
"#;
    let all = [
        (UTIL, 0.75),
        ("SMActive", 0.5),
        ("TensorActive", 0.25),
        ("DRAMActive", 0.125),
        (USED, 3_145_728.0),
        (FREE, 1_048_576.0),
        ("GPUMemoryTotalBytes", 4_194_304.0),
        ("GPUPowerWatts", 612.5),
        ("GPUTemperatureCelsius", 67.0),
    ];
    check(text, &pod("s", "q-0"), &all);
    check(text, &pod("s", "q-1"), &[(UTIL, 0.4)]);
    check(text, &pod("s", "q-2"), &[]);
}

#[test]
fn gpus_are_found_by_uuid_slot_labels_or_host() {
    let text = r#"
DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-AAAA",pci_bus_id="00000000:1A:00.0",Hostname="n"} 33
DCGM_FI_DEV_GPU_UTIL{gpu="1",UUID="GPU-bbbb",pci_bus_id="00000000:1B:00.0",Hostname="n"} 66
"#;
    check(text, &uuids(&["gpu-aaaa"]), &[(UTIL, 0.33)]);
    check(text, &uuids(&["GPU-BBBB", "GPU-none"]), &[(UTIL, 0.66)]);
    check(text, &uuids(&["GPU-none"]), &[]);
    for same in ["00000000:1b:00.0", "0000:1B:00.0", "1b:00.0"] {
        check(text, &slot(same), &[(UTIL, 0.66)]);
    }
    check(text, &slot("0001:1b:00.0"), &[]);
    check(text, &labels(&[("Hostname", "n"), ("gpu", "0")]), &[(UTIL, 0.33)]);
    check(text, &labels(&[("Hostname", "N")]), &[]);
    check(text, &GpuSelector::Host, &[(UTIL, 0.66)]);
    for none in ["", "1b", "1b:00", "1b:00.x", "1b:0:0:0.0", "1b:00.10", "+b:00.0", "100000000:1b:00.0"] {
        assert_eq!(PciBusId::parse(none), None, "{none}");
    }
}

#[test]
fn every_label_counts_and_an_empty_one_matches_nobody() {
    let text = r#"
DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-a",namespace="team-a",pod="web-0"} 80
DCGM_FI_DEV_GPU_UTIL{gpu="1",UUID="GPU-b",namespace="team-b",pod="web-0"} 5
DCGM_FI_DEV_GPU_UTIL{gpu="2",UUID="GPU-c",namespace="",pod=""} 0
DCGM_FI_DEV_GPU_UTIL{gpu="3",UUID="GPU-d"} 0
"#;
    check(text, &pod("team-a", "web-0"), &[(UTIL, 0.8)]);
    check(text, &pod("team-b", "web-0"), &[(UTIL, 0.05)]);
    check(text, &pod("", ""), &[]);
    check(text, &labels(&[]), &[]);

    let parsed = parse(text);
    let families = Families::new(&parsed, SENT);
    let inventory = inventory(&families);
    let mut owned = BTreeSet::new();
    inventory.extract(&pod("team-a", "web-0"), &mut owned);
    let unmatched = Unmatched { other_owner: 1, no_owner: 2, ..Unmatched::default() };
    assert_eq!(inventory.unmatched(&owned), unmatched);
    inventory.extract(&GpuSelector::Host, &mut owned);
    assert_eq!(inventory.unmatched(&owned), Unmatched::default());
}

#[test]
fn several_gpus_are_combined_by_the_attribute_table() {
    let text = r#"
DCGM_FI_DEV_GPU_UTIL{UUID="GPU-a",pod="tp"} 40
DCGM_FI_DEV_GPU_UTIL{UUID="GPU-b",pod="tp"} 97
DCGM_FI_DEV_FB_FREE{UUID="GPU-a",pod="tp"} 200
DCGM_FI_DEV_FB_FREE{UUID="GPU-b",pod="tp"} 100
DCGM_FI_DEV_FB_USED{UUID="GPU-a",pod="tp"} 1
DCGM_FI_DEV_FB_USED{UUID="GPU-b",pod="tp"} 2
DCGM_FI_DEV_POWER_USAGE{UUID="GPU-a",pod="tp"} 300.5
"#;
    let selector = labels(&[("pod", "tp")]);
    check(text, &selector, &[(UTIL, 0.97), (FREE, 104_857_600.0), (USED, 3_145_728.0)]);
}

#[test]
fn a_gpu_that_is_listed_several_times_counts_once() {
    let text = r#"
DCGM_FI_DEV_POWER_USAGE{UUID="GPU-a",pod="a",container="engine"} 100
DCGM_FI_DEV_POWER_USAGE{UUID="GPU-a",pod="a",container="sidecar"} 100
DCGM_FI_DEV_POWER_USAGE{UUID="GPU-a",pod="b"} 100
DCGM_FI_DEV_POWER_USAGE{UUID="GPU-b",pod="b"} 7
"#;
    check(text, &labels(&[("pod", "a")]), &[("GPUPowerWatts", 100.0)]);
    check(text, &labels(&[("pod", "b")]), &[("GPUPowerWatts", 107.0)]);
    check(text, &GpuSelector::Host, &[("GPUPowerWatts", 107.0)]);
}

#[test]
fn slices_are_told_apart_and_have_no_gpu_util() {
    let text = r#"
DCGM_FI_PROF_GR_ENGINE_ACTIVE{UUID="GPU-m",GPU_I_ID="1",pod="a"} 0.75
DCGM_FI_PROF_GR_ENGINE_ACTIVE{UUID="GPU-m",GPU_I_ID="2",pod="b"} 0.25
DCGM_FI_DEV_GPU_UTIL{UUID="GPU-m",GPU_I_ID="2",pod="b"} 0
DCGM_FI_DEV_GPU_UTIL{UUID="GPU-m",GPU_I_ID="3",pod="c"} 0
DCGM_FI_PROF_GR_ENGINE_ACTIVE{UUID="GPU-m",GPU_I_ID="13"} 0
DCGM_FI_DEV_FB_USED{UUID="GPU-m",GPU_I_ID="1",pod="a"} 1
DCGM_FI_DEV_FB_USED{UUID="GPU-m",GPU_I_ID="2",pod="b"} 2
DCGM_FI_DEV_GPU_TEMP{UUID="GPU-m"} 66
DCGM_FI_DEV_GPU_UTIL{UUID="GPU-m"} 0
"#;
    check(text, &labels(&[("pod", "a")]), &[(UTIL, 0.75), (USED, 1_048_576.0)]);
    check(text, &labels(&[("pod", "b")]), &[(UTIL, 0.25), (USED, 2_097_152.0)]);
    check(text, &labels(&[("pod", "c")]), &[]);
    check(text, &labels(&[("UUID", "GPU-m"), ("GPU_I_ID", "13")]), &[(UTIL, 0.0)]);
    check(text, &uuids(&["GPU-m"]), &[(UTIL, 0.75), ("GPUTemperatureCelsius", 66.0)]);

    let parsed = parse(text);
    let families = Families::new(&parsed, SENT);
    let inventory = inventory(&families);
    let mut owned = BTreeSet::new();
    inventory.extract(&labels(&[("pod", "a")]), &mut owned);
    let unmatched = Unmatched { other_owner: 2, no_owner: 1, sliced_card: 1, ..Unmatched::default() };
    assert_eq!(inventory.unmatched(&owned), unmatched, "the slices 2 and 3, 13, and the card's own line");
}

#[test]
fn a_whole_card_is_not_the_sum_of_its_slices_once_more() {
    let text = r#"
DCGM_FI_DEV_FB_USED{UUID="GPU-m"} 10
DCGM_FI_DEV_FB_USED{UUID="GPU-m",GPU_I_ID="1"} 4
DCGM_FI_DEV_FB_USED{UUID="GPU-m",GPU_I_ID="2"} 5
DCGM_FI_DEV_FB_USED{UUID="GPU-n",GPU_I_ID="1"} 1
DCGM_FI_DEV_FB_USED{UUID="GPU-n",GPU_I_ID="2"} 2
"#;
    check(text, &GpuSelector::Host, &[(USED, 13.0 * 1_048_576.0)]);
}

#[test]
fn blanks_and_impossible_percentages_are_missing() {
    let text = r#"
DCGM_FI_DEV_GPU_UTIL{UUID="GPU-a",pod="a"} 9223372036854775794
DCGM_FI_DEV_FB_FREE{UUID="GPU-a",pod="a"} 9.223372036854776e+18
DCGM_FI_DEV_POWER_USAGE{UUID="GPU-a",pod="a"} 140737488355328.000000
DCGM_FI_DEV_GPU_TEMP{UUID="GPU-a",pod="a"} 2147483634
DCGM_FI_DEV_GPU_UTIL{UUID="GPU-b",pod="b"} 36
DCGM_FI_DEV_GPU_UTIL{UUID="GPU-c",pod="b"} 73112
DCGM_FI_DEV_GPU_UTIL{UUID="GPU-d",pod="d"} 4294967295
DCGM_FI_PROF_GR_ENGINE_ACTIVE{UUID="GPU-e",pod="e"} 140737488355328
DCGM_FI_DEV_GPU_UTIL{UUID="GPU-e",pod="e"} 100
"#;
    check(text, &labels(&[("pod", "a")]), &[]);
    check(text, &labels(&[("pod", "b")]), &[(UTIL, 0.36)]);
    check(text, &labels(&[("pod", "d")]), &[]);
    check(text, &labels(&[("pod", "e")]), &[(UTIL, 1.0)]);
}

#[test]
fn the_exporters_own_pod_has_no_gpu() {
    let text = "DCGM_FI_DEV_GPU_UTIL{UUID=\"GPU-a\",exported_pod=\"q-0\",exported_namespace=\"s\",pod=\"exp\",namespace=\"ops\"} 71\n";
    check(text, &pod("s", "q-0"), &[(UTIL, 0.71)]);
    check(text, &pod("ops", "exp"), &[]);
    check(text, &labels(&[("podname", "exp")]), &[]);
}

#[test]
fn labels_that_are_gone_for_one_scrape_take_nothing_away() {
    let parsed = parse("DCGM_FI_DEV_GPU_UTIL{UUID=\"GPU-a\"} 75\n");
    let families = Families::new(&parsed, SENT);
    let inventory = inventory(&families);
    let complete = |selector| inventory.extract(&selector, &mut BTreeSet::new()).complete;
    assert!(!complete(labels(&[("pod", "p")])), "the exporter may have lost the labels");
    assert!(complete(uuids(&["GPU-b"])), "a card that is not listed is gone");
    assert!(complete(uuids(&["GPU-a"])));
}

#[test]
fn a_card_that_is_named_and_not_listed_makes_sums_missing() {
    let text = "DCGM_FI_DEV_GPU_UTIL{UUID=\"GPU-a\"} 75\nDCGM_FI_DEV_FB_USED{UUID=\"GPU-a\"} 3\n";
    check(text, &uuids(&["GPU-A"]), &[(UTIL, 0.75), (USED, 3_145_728.0)]);
    check(text, &uuids(&["GPU-A", "GPU-B"]), &[(UTIL, 0.75)]);
    let parsed = parse(text);
    let families = Families::new(&parsed, SENT);
    let extraction = inventory(&families).extract(&uuids(&["GPU-A", "GPU-B"]), &mut BTreeSet::new());
    assert_eq!(extraction.note("q").as_deref(), Some("1 of the GPUs of endpoint q are not listed here"));
}

#[test]
fn slices_are_named_by_card_and_instance_and_hosts_by_name() {
    let text = r#"
DCGM_FI_PROF_GR_ENGINE_ACTIVE{gpu="0",UUID="GPU-m",pci_bus_id="00000000:17:00.0",Hostname="n1"} 0.95
DCGM_FI_PROF_GR_ENGINE_ACTIVE{gpu="0",UUID="GPU-m",pci_bus_id="00000000:17:00.0",Hostname="n1",GPU_I_ID="7",podname="exporter-x"} 0.31
DCGM_FI_PROF_GR_ENGINE_ACTIVE{gpu="1",UUID="GPU-n",pci_bus_id="00000000:28:00.0",Hostname="n2",GPU_I_ID="7"} 0.88
"#;
    let mig = |card: &str, instance| GpuSelector::Mig([(Card::parse(card), instance)].into());
    check(text, &mig("GPU-M", 7), &[(UTIL, 0.31)]);
    check(text, &mig("0000:28:00.0", 7), &[(UTIL, 0.88)]);
    check(text, &mig("GPU-m", 11), &[]);
    check(text, &GpuSelector::HostNamed("n2".to_owned()), &[(UTIL, 0.88)]);
    check(text, &labels(&[("pod", "exporter-x")]), &[]);
}

#[test]
fn values_that_were_not_measured_since_keep_their_time_for_a_period() {
    let (at, period) = (Timestamp::from_millis, Duration::from_secs(30));
    let mut refresh = Refresh::default();
    let mut measured_at = |value: &str, own: &str, sent_ms: u64| {
        let text = format!("DCGM_FI_DEV_GPU_UTIL{{UUID=\"a\"}} {value}{own}\ngo_goroutines {sent_ms}\n");
        let parsed = parse(&text);
        let inventory = Inventory::new(&Families::new(&parsed, at(sent_ms)), &mut refresh, period);
        let facts = inventory.extract(&GpuSelector::Host, &mut BTreeSet::new()).facts;
        facts.get(UTIL).expect("a value").measured_at.as_micros() / 1_000
    };
    assert_eq!(measured_at("80", "", 100_000), 70_000, "nobody knows when: at worst a period ago");
    assert_eq!(measured_at("80", "", 100_200), 70_200);
    assert_eq!(measured_at("75", "", 101_000), 101_000, "measured since the scrape before");
    assert_eq!(measured_at("75", "", 130_000), 101_000, "may still be the same measurement");
    assert_eq!(measured_at("75", "", 140_000), 110_000, "must have been measured again since");
    assert_eq!(measured_at("75", " 139000", 140_000), 139_000, "the exporter says when");
    assert_eq!(measured_at("75", "", 90_000), 60_000, "the clock was set back");
}

#[test]
fn other_exporters_other_names() {
    let text = r#"
gpu_gfx_activity{gpu_uuid="01ff",gpu_id="0",gpu_partition_id="0",hostname="amd",namespace="s",pod="l-0",job_id="9"} 91
gpu_gfx_activity{gpu_uuid="02ff",gpu_id="1",gpu_partition_id="0",hostname="amd",namespace="",pod=""} 4294967295
gpu_free_vram{gpu_uuid="01ff",gpu_id="0",gpu_partition_id="0",hostname="amd",namespace="s",pod="l-0",job_id="9"} 2
"#;
    let both = [(UTIL, 0.91), (FREE, 2_097_152.0)];
    check(text, &pod("s", "l-0"), &both);
    check(text, &labels(&[("hpc_job", "9")]), &both);
    check(text, &uuids(&["02FF"]), &[]);
    let old = "dcgm_gpu_utilization{gpu=\"0\",uuid=\"GPU-a\",pod_name=\"p\",pod_namespace=\"s\"} 71\n";
    check(old, &pod("s", "p"), &[(UTIL, 0.71)]);
    check(old, &pod("other", "p"), &[]);
}
