//! `headroom.wasm`: the proxy-wasm adapter. It decides nothing: each callback of the proxy becomes a
//! call of `headroom-filter`, and what that answers becomes a call of the proxy.

mod feed;
mod host;
mod root;
mod route;
#[cfg(feature = "test-trap")]
mod trap;
mod vm;

proxy_wasm::main! {{
    proxy_wasm::set_log_level(proxy_wasm::types::LogLevel::Info);
    proxy_wasm::set_root_context(|_| Box::new(root::Root::default()));
}}
