//! The files of `envoy/`, adapted to a test: what is tested is what ships.

use std::path::{Path, PathBuf};

use anyhow::Context;
use serde_json::{Value, json};

use crate::binaries;

/// An Envoy configuration that started as a file of `envoy/`.
#[derive(Clone, Debug)]
pub struct EnvoyConfig {
    root: Value,
}

const LISTENER: &str = "/static_resources/listeners/0";
const HCM: &str = "/static_resources/listeners/0/filter_chains/0/filters/0/typed_config";

/// Reads a YAML file of the repository.
///
/// # Errors
/// When it is not there or no YAML.
pub fn yaml(path: &Path) -> anyhow::Result<Value> {
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    serde_saphyr::from_str(&text).with_context(|| path.display().to_string())
}

impl EnvoyConfig {
    /// The file `envoy/<name>` with the module, ports of the system's choice and an access log in a
    /// file.
    ///
    /// # Errors
    /// When the file or the module is not there.
    pub fn load(name: &str, access_log: &Path) -> anyhow::Result<Self> {
        let mut config = Self { root: yaml(&binaries::repository().join("envoy").join(name))? };
        config.set("/admin/address/socket_address/port_value", json!(0))?;
        config.set(&format!("{LISTENER}/address/socket_address/port_value"), json!(0))?;
        config.set(&format!("{HCM}/access_log/0/typed_config/path"), json!(access_log))?;
        if config.filter("headroom").is_some_and(|filter| filter.get("typed_config").is_some()) {
            config.set_module(&binaries::module()?)?;
        }
        Ok(config)
    }

    /// Any part of it.
    ///
    /// # Errors
    /// When there is nothing at `pointer`.
    pub fn set(&mut self, pointer: &str, value: Value) -> anyhow::Result<()> {
        let place = self.root.pointer_mut(pointer).with_context(|| format!("nothing at {pointer}"))?;
        *place = value;
        Ok(())
    }

    /// Replaces the module.
    ///
    /// # Errors
    /// When the filter is not configured here.
    pub fn set_module(&mut self, module: &Path) -> anyhow::Result<()> {
        let filter = self.filter("headroom").context("no headroom filter")?;
        set_module(filter.pointer_mut("/typed_config/config").context("no config in the filter")?, module)
    }

    /// Changes the plugin's config.
    ///
    /// # Errors
    /// When the filter is not configured here.
    pub fn edit_plugin(&mut self, edit: impl FnOnce(&mut Value)) -> anyhow::Result<()> {
        let filter = self.filter("headroom").context("no headroom filter")?;
        edit_plugin(filter.pointer_mut("/typed_config/config").context("no config in the filter")?, edit)
    }

    /// Watches `path` for the filter.
    ///
    /// # Errors
    /// When the filter is not discovered here.
    pub fn watch_filter(&mut self, path: &Path) -> anyhow::Result<()> {
        let filter = self.filter("headroom").context("no headroom filter")?;
        let place = filter.pointer_mut("/config_discovery/config_source/path_config_source/path");
        *place.context("the filter is not discovered")? = json!(path);
        Ok(())
    }

    /// Takes the filter out: plain Envoy.
    pub fn without_headroom(&mut self) {
        if let Some(Value::Array(filters)) = self.root.pointer_mut(&format!("{HCM}/http_filters")) {
            filters.retain(|filter| filter.get("name") != Some(&json!("headroom")));
        }
    }

    /// Puts another HTTP filter before the module's.
    ///
    /// # Errors
    /// When the config has no HTTP filters.
    pub fn insert_filter_first(&mut self, filter: Value) -> anyhow::Result<()> {
        let filters = self.root.pointer_mut(&format!("{HCM}/http_filters")).and_then(Value::as_array_mut);
        filters.context("no HTTP filters")?.insert(0, filter);
        Ok(())
    }

    /// The endpoints of a cluster.
    ///
    /// # Errors
    /// When there is no such cluster, or an address is not `ip:port`.
    pub fn set_endpoints(&mut self, cluster: &str, addresses: &[String]) -> anyhow::Result<()> {
        let endpoints = addresses
            .iter()
            .map(|address| {
                let address: std::net::SocketAddr = address.parse().with_context(|| address.clone())?;
                let socket = json!({"address": address.ip().to_string(), "port_value": address.port()});
                Ok(json!({"endpoint": {"address": {"socket_address": socket}}}))
            })
            .collect::<anyhow::Result<Vec<_>>>()?;
        let cluster = self.cluster(cluster)?;
        let place =
            cluster.pointer_mut("/load_assignment/endpoints/0/lb_endpoints").context("no endpoints")?;
        *place = Value::Array(endpoints);
        Ok(())
    }

    /// Replaces a cluster's load balancing by a policy of Envoy's own, for instance `round_robin`.
    ///
    /// # Errors
    /// When there is no such cluster.
    pub fn set_policy(&mut self, cluster: &str, policy: &str) -> anyhow::Result<()> {
        let message = match policy {
            "round_robin" => "RoundRobin",
            "least_request" => "LeastRequest",
            other => anyhow::bail!("{other} is not a policy known here"),
        };
        let kind =
            format!("type.googleapis.com/envoy.extensions.load_balancing_policies.{policy}.v3.{message}");
        let name = format!("envoy.load_balancing_policies.{policy}");
        let extension = json!({"typed_extension_config": {"name": name, "typed_config": {"@type": kind}}});
        let place =
            self.cluster(cluster)?.pointer_mut("/load_balancing_policy").context("no policy to replace")?;
        *place = json!({"policies": [extension]});
        Ok(())
    }

    /// One cluster, to be changed in place.
    ///
    /// # Errors
    /// When there is none of that name.
    pub fn cluster(&mut self, name: &str) -> anyhow::Result<&mut Value> {
        let clusters = self.root.pointer_mut("/static_resources/clusters").and_then(Value::as_array_mut);
        let mut found =
            clusters.into_iter().flatten().filter(|cluster| cluster.get("name") == Some(&json!(name)));
        found.next().with_context(|| format!("no cluster {name}"))
    }

    /// Writes it to `folder` for Envoy to read.
    ///
    /// # Errors
    /// When it can't be written.
    pub fn write(&self, folder: &Path) -> anyhow::Result<PathBuf> {
        let path = folder.join("envoy.json");
        std::fs::write(&path, serde_json::to_vec_pretty(&self.root)?)?;
        Ok(path)
    }

    fn filter(&mut self, name: &str) -> Option<&mut Value> {
        let filters = self.root.pointer_mut(&format!("{HCM}/http_filters"))?.as_array_mut()?;
        filters.iter_mut().find(|filter| filter.get("name") == Some(&json!(name)))
    }
}

/// The filter of `envoy/ecds.yaml`, adapted, as Envoy reads it from a watched file.
///
/// # Errors
/// When the file is not there or not as expected.
pub fn discovered_filter(module: &Path, edit: impl FnOnce(&mut Value)) -> anyhow::Result<Value> {
    let mut root = yaml(&binaries::repository().join("envoy/ecds.yaml"))?;
    let config = root.pointer_mut("/resources/0/typed_config/config").context("no filter in ecds.yaml")?;
    set_module(config, module)?;
    edit_plugin(config, edit)?;
    Ok(root)
}

/// Replaces a watched file the way that Envoy notices: by a rename.
///
/// # Errors
/// When it can't be written.
pub fn replace_file(path: &Path, value: &Value) -> anyhow::Result<()> {
    let next = path.with_extension("next");
    std::fs::write(&next, serde_json::to_vec_pretty(value)?)?;
    std::fs::rename(next, path)?;
    Ok(())
}

fn set_module(config: &mut Value, module: &Path) -> anyhow::Result<()> {
    let place = config.pointer_mut("/vm_config/code/local/filename").context("no module in the filter")?;
    *place = json!(module);
    Ok(())
}

fn edit_plugin(config: &mut Value, edit: impl FnOnce(&mut Value)) -> anyhow::Result<()> {
    let place = config.pointer_mut("/configuration/value").context("no plugin config in the filter")?;
    let mut plugin = serde_json::from_str(place.as_str().unwrap_or_default())?;
    edit(&mut plugin);
    *place = json!(plugin.to_string());
    Ok(())
}
