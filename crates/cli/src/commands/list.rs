//! `list`: every block device, what it is, what it claims, and who uses it.

use crate::args::List;
use crate::error::{Failure, Outcome};
use crate::output;
use crate::smart;
use anyhow::anyhow;
use flashscope_host::{Bus, ListedDevice, MmcFacts, ScsiFacts, SysRoot, UsbFacts};
use flashscope_model::DeviceKind;
use flashscope_registers::health_words;
use flashscope_units::Bytes;
use serde_json::{Value, json};

pub(crate) fn run(args: List) -> Result<Outcome, Failure> {
    let live = args.sysfs == std::path::Path::new("/sys");
    let sys = if live { SysRoot::live() } else { SysRoot::at(&args.sysfs) };
    if !["block", "sys/block"].iter().any(|block| args.sysfs.join(block).is_dir()) {
        return Err(Failure::Cannot(anyhow!(
            "{} holds no sysfs tree\nhint: name a copy of /sys, or a directory that holds one (and one of /proc beside it)",
            args.sysfs.display()
        )));
    }
    let mut devices = flashscope_host::list(&sys);
    if live {
        devices.iter_mut().for_each(|device| device.claims.health = smart::health(device));
    }
    if !args.devices.is_empty() {
        if let Some(missing) = args.devices.iter().find(|path| !devices.iter().any(|device| &device.path == *path)) {
            return Err(Failure::Cannot(anyhow!(
                "there is no block device {}\nhint: `flashscope list` without arguments shows all; a partition is listed with its disk",
                missing.display()
            )));
        }
        devices.retain(|device| args.devices.contains(&device.path));
    }
    if args.json {
        let devices: Vec<Value> = devices.iter().map(as_json).collect();
        output::data(&format!("{:#}", json!({ "schema": "flashscope.list/1", "devices": devices })))?;
    } else {
        let texts: Vec<String> = devices.iter().map(as_text).collect();
        output::data(&if texts.is_empty() { "no block devices".to_owned() } else { texts.join("\n\n") })?;
    }
    Ok(Outcome::Done)
}

fn as_text(device: &ListedDevice) -> String {
    let model = device.model.as_deref().unwrap_or("");
    let mut lines = vec![
        format!("{}  {}  {}  {model}", device.path.display(), kind(device.kind), device.capacity).trim_end().to_owned(),
    ];
    let mut line = |label: &str, value: String| {
        if !value.is_empty() {
            lines.push(match label {
                // To be copied as a whole.
                "identity" | "partition" => format!("  {label:<10} {value}"),
                _ => output::named(&format!("  {label:<9}"), &value),
            });
        }
    };
    line("identity", device.identity.0.clone());
    line("made", made(&device.bus));
    line("bus", bus_mode(&device.bus));
    line("claims", claims(device));
    line("health", device.claims.health.map(|health| health_words(&health).join("; ")).unwrap_or_default());
    line("queue", queue(device));
    for partition in &device.partitions {
        let (path, identity) = (partition.path.display(), &partition.identity.0);
        line("partition", format!("{path}  {} at {}  {identity}", partition.length, partition.start));
    }
    for used in &device.uses {
        let refusal = used.refusal();
        let release = refusal.release.map(|release| format!("  (release: {release})")).unwrap_or_default();
        line("in use", format!("{}{release}", refusal.what));
    }
    if device.system {
        line("in use", "the running system is on it: never written to".to_owned());
    }
    lines.join("\n")
}

fn joined(parts: impl IntoIterator<Item = Option<String>>) -> String {
    parts.into_iter().flatten().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

fn labelled(label: &str, value: Option<&String>) -> Option<String> {
    value.map(|value| format!("{label} {value}"))
}

/// Who made it, when, in which revision.
fn made(bus: &Bus) -> String {
    match bus {
        Bus::Mmc(card) => {
            let cid = card.cid.as_ref();
            joined([
                cid.and_then(|cid| cid.manufacturer_name).map(str::to_owned),
                labelled("manufacturer id", card.manufacturer_id.as_ref()),
                labelled("oem", card.oem_id.as_ref()),
                cid.and_then(|cid| cid.oem_text.as_ref()).map(|text| format!("({text})")),
                labelled("hardware", card.hardware_revision.as_ref()),
                labelled("firmware", card.firmware_revision.as_ref()),
                labelled("serial", card.serial.as_ref()),
                labelled("date", card.date.as_ref()),
            ])
        }
        Bus::Usb(usb) => joined([
            usb.manufacturer.clone(),
            usb.product.clone(),
            labelled("id", usb.id.as_ref()),
            labelled("serial", usb.serial.as_ref()),
        ]),
        Bus::Nvme(nvme) => joined([
            nvme.model.clone(),
            labelled("serial", nvme.serial.as_ref()),
            labelled("firmware", nvme.firmware.as_ref()),
        ]),
        Bus::Scsi(scsi) => joined([
            scsi.vendor.clone(),
            scsi.model.clone(),
            labelled("serial", scsi.serial.as_ref()),
            labelled("revision", scsi.revision.as_ref()),
        ]),
        Bus::Virtio { serial } => labelled("serial", serial.as_ref()).unwrap_or_default(),
        Bus::Loop(_) | Bus::Other { .. } => String::new(),
    }
}

fn bus_mode(bus: &Bus) -> String {
    match bus {
        Bus::Mmc(card) => {
            let mode = card.mode.as_ref();
            joined([
                card.host.clone(),
                card.scr.as_ref().and_then(|scr| scr.version).map(|version| format!("SD {version}")),
                labelled("EXT_CSD revision", card.revision.as_ref()),
                mode.and_then(|mode| mode.timing.clone()),
                mode.and_then(|mode| mode.clock_hz).map(|hz| format!("{} MHz", hz / 1_000_000)),
                mode.and_then(|mode| mode.width).map(|width| format!("{width} data lines")),
                mode.and_then(|mode| mode.voltage.clone()),
                card.command_queue.map(|on| format!("command queue {}", if on { "on" } else { "off" })),
                card.hardware_partition.as_ref().map(|name| format!("hardware partition {name}")),
            ])
        }
        Bus::Usb(usb) => joined([
            labelled("USB", usb.version.as_ref()),
            usb.speed_mbit_per_s.as_ref().map(|speed| format!("{speed} Mbit/s")),
            usb.scsi.driver.clone(),
            usb.scsi.lun.map(|lun| format!("slot {lun}")),
        ]),
        Bus::Nvme(nvme) => nvme.transport.clone().unwrap_or_default(),
        Bus::Scsi(scsi) => scsi.driver.clone().unwrap_or_default(),
        Bus::Virtio { .. } => "virtio".to_owned(),
        Bus::Loop(file) => joined([
            Some(format!("over {}", file.backing.display())),
            (file.offset > Bytes::ZERO).then(|| format!("from {}", file.offset)),
            Some(if file.direct { "direct I/O" } else { "through the page cache" }.to_owned()),
        ]),
        Bus::Other { subsystem } => subsystem.clone().unwrap_or_default(),
    }
}

fn claims(device: &ListedDevice) -> String {
    let claims = &device.claims;
    let size = |label: &str, bytes: Option<Bytes>| bytes.map(|bytes| format!("{label} {bytes}"));
    let mut parts = vec![
        claims.speed_class.clone(),
        size("allocation unit", claims.allocation_unit),
        size("preferred erase", claims.preferred_erase),
        size("erase", claims.erase),
    ];
    parts.extend(claims.other.iter().cloned().map(Some));
    joined(parts)
}

fn queue(device: &ListedDevice) -> String {
    let queue = &device.queue;
    joined([
        Some(format!("{} sectors", device.logical_block)),
        labelled("scheduler", queue.scheduler.as_ref()),
        queue.read_ahead.map(|size| format!("read-ahead {size}")),
        queue.max_request.map(|size| format!("largest request {size}")),
        queue.write_cache.clone(),
        device.read_only.then(|| "read-only".to_owned()),
        device.removable.then(|| "removable".to_owned()),
    ])
}

fn kind(kind: DeviceKind) -> &'static str {
    match kind {
        DeviceKind::SdCard => "SD card",
        DeviceKind::Emmc => "eMMC",
        DeviceKind::Ufs => "UFS",
        DeviceKind::Usb => "USB storage",
        DeviceKind::Nvme => "NVMe drive",
        DeviceKind::Scsi => "SCSI or SATA drive",
        DeviceKind::Virtio => "virtio disk",
        DeviceKind::Loop => "loop device",
        DeviceKind::Emulated => "emulated device",
        DeviceKind::File => "file",
        DeviceKind::Other => "block device",
    }
}

fn as_json(device: &ListedDevice) -> Value {
    let bytes = |size: Option<Bytes>| size.map(Bytes::get);
    let queue = &device.queue;
    let claims = &device.claims;
    json!({
        "path": device.path,
        "identity": device.identity.0,
        "kind": kind(device.kind),
        "capacity_bytes": device.capacity.get(),
        "logical_block_bytes": device.logical_block.get(),
        "physical_block_bytes": bytes(device.physical_block),
        "model": device.model,
        "serial": device.serial,
        "removable": device.removable,
        "read_only": device.read_only,
        "holds_running_system": device.system,
        "bus": bus_json(&device.bus),
        "claims": {
            "allocation_unit_bytes": bytes(claims.allocation_unit),
            "preferred_erase_bytes": bytes(claims.preferred_erase),
            "erase_bytes": bytes(claims.erase),
            "speed_class": claims.speed_class,
            "other": claims.other,
        },
        "health": claims.health.as_ref().map(super::mmc::health_json),
        "queue": {
            "scheduler": queue.scheduler,
            "read_ahead_bytes": bytes(queue.read_ahead),
            "max_request_bytes": bytes(queue.max_request),
            "discard_max_bytes": bytes(queue.discard_max),
            "write_cache": queue.write_cache,
            "forced_unit_access": queue.fua,
            "rotational": queue.rotational,
        },
        "partitions": device.partitions.iter().map(|partition| json!({
            "path": partition.path,
            "start_bytes": partition.start.get(),
            "length_bytes": partition.length.get(),
            "identity": partition.identity.0,
        })).collect::<Vec<_>>(),
        "uses": device.uses.iter().map(|used| {
            let refusal = used.refusal();
            json!({ "device": used.device, "what": refusal.what, "release": refusal.release })
        }).collect::<Vec<_>>(),
    })
}

fn bus_json(bus: &Bus) -> Value {
    match bus {
        Bus::Mmc(card) => mmc_json(card),
        Bus::Usb(usb) => usb_json(usb),
        Bus::Nvme(nvme) => json!({
            "type": "nvme", "model": nvme.model, "serial": nvme.serial, "firmware": nvme.firmware, "transport": nvme.transport,
        }),
        Bus::Scsi(scsi) => scsi_json(scsi),
        Bus::Virtio { serial } => json!({ "type": "virtio", "serial": serial }),
        Bus::Loop(file) => json!({
            "type": "loop", "backing_path": file.backing, "direct": file.direct, "offset_bytes": file.offset.get(),
        }),
        Bus::Other { subsystem } => json!({ "type": "other", "subsystem": subsystem }),
    }
}

fn mmc_json(card: &MmcFacts) -> Value {
    json!({
        "type": "mmc",
        "name": card.name,
        "serial": card.serial,
        "date": card.date,
        "manufacturer_id": card.manufacturer_id,
        "manufacturer": card.cid.as_ref().and_then(|cid| cid.manufacturer_name),
        "oem_id": card.oem_id,
        "hardware_revision": card.hardware_revision,
        "firmware_revision": card.firmware_revision,
        "sd_version": card.scr.as_ref().and_then(|scr| scr.version),
        "classes": card.ssr.as_ref().and_then(|ssr| ssr.classes()),
        "line_rate_bytes_per_s": card.csd.as_ref().and_then(|csd| csd.line_rate).map(|rate| rate.get()),
        "erase_bytes": card.erase.map(Bytes::get),
        "preferred_erase_bytes": card.preferred_erase.map(Bytes::get),
        "life_time": card.life_time,
        "pre_end_of_life": card.pre_end_of_life,
        "command_queue": card.command_queue,
        "ext_csd_revision": card.revision,
        "hardware_partition": card.hardware_partition,
        "host_controller": card.host,
        "mode": card.mode.as_ref().map(|mode| json!({
            "clock_hz": mode.clock_hz, "data_lines": mode.width, "timing": mode.timing, "voltage": mode.voltage,
        })),
    })
}

fn usb_json(usb: &UsbFacts) -> Value {
    json!({
        "type": "usb",
        "id": usb.id,
        "manufacturer": usb.manufacturer,
        "product": usb.product,
        "serial": usb.serial,
        "speed_mbit_per_s": usb.speed_mbit_per_s,
        "usb_version": usb.version,
        "scsi": scsi_json(&usb.scsi),
    })
}

fn scsi_json(scsi: &ScsiFacts) -> Value {
    json!({
        "type": "scsi",
        "vendor": scsi.vendor,
        "model": scsi.model,
        "revision": scsi.revision,
        "serial": scsi.serial,
        "lun": scsi.lun,
        "driver": scsi.driver,
    })
}
