//! How many instructions a WASI program executes, counted by an interpreter: the same on every machine.

use anyhow::{Context as _, bail};
use wasmi::{Caller, Config, Engine, Error, ExternType, Linker, Memory, Module, Store, Val};

/// What a program asks for that it does not get: `EBADF`, which also ends its search for open files.
const NOT_THERE: i32 = 8;

/// The fuel that `program`, a wasm32-wasip1 binary, burns when it runs with these arguments. One unit is about
/// one instruction; copying memory costs by its length.
///
/// # Errors
/// When it is no such program, traps, or exits with another status than 0.
pub fn burnt(program: &[u8], args: &[String]) -> anyhow::Result<u64> {
    let mut config = Config::default();
    config.consume_fuel(true);
    let engine = Engine::new(&config);
    let module = Module::new(&engine, program).context("the program is not WebAssembly")?;
    let mut store = Store::new(&engine, Host { args: args.to_vec() });
    store.set_fuel(u64::MAX)?;
    let mut linker = Linker::new(&engine);
    for import in module.imports() {
        let ExternType::Func(signature) = import.ty() else { bail!("the program imports {}", import.name()) };
        let name = import.name().to_owned();
        let call = move |caller: Caller<'_, Host>, params: &[Val], results: &mut [Val]| {
            let status = wasi(caller, &name, params)?;
            if let Some(result) = results.first_mut() {
                *result = Val::I32(status);
            }
            Ok(())
        };
        linker.func_new(import.module(), import.name(), signature.clone(), call)?;
    }
    let instance = linker.instantiate_and_start(&mut store, &module)?;
    let start = instance.get_typed_func::<(), ()>(&store, "_start")?;
    if let Err(error) = start.call(&mut store, ())
        && error.i32_exit_status() != Some(0)
    {
        return Err(error).context("the program failed");
    }
    Ok(u64::MAX - store.get_fuel()?)
}

struct Host {
    /// With the program's name first.
    args: Vec<String>,
}

/// As much of WASI as a program needs that reads its arguments and says why it fails.
fn wasi(mut caller: Caller<'_, Host>, name: &str, params: &[Val]) -> Result<i32, Error> {
    let number = |index: usize| match params.get(index) {
        Some(Val::I32(value)) => value.cast_unsigned(),
        _ => 0,
    };
    if name == "proc_exit" {
        return Err(Error::i32_exit(number(0).cast_signed()));
    }
    let memory = caller.get_export("memory").and_then(|export| export.into_memory());
    let memory = memory.ok_or_else(|| Error::new("the program exports no memory"))?;
    match name {
        "args_sizes_get" | "args_get" => {
            let args = caller.data().args.clone();
            let (mut pointers, mut text) = (Vec::new(), Vec::new());
            for arg in &args {
                pointers.extend(number(1).wrapping_add(length(&text)).to_le_bytes());
                text.extend(arg.bytes().chain([0]));
            }
            if name == "args_get" {
                write(&mut caller, memory, number(0), &pointers)?;
                write(&mut caller, memory, number(1), &text)?;
            } else {
                write(&mut caller, memory, number(0), &length(&args).to_le_bytes())?;
                write(&mut caller, memory, number(1), &length(&text).to_le_bytes())?;
            }
            Ok(0)
        }
        "environ_sizes_get" => {
            write(&mut caller, memory, number(0), &[0; 4])?;
            write(&mut caller, memory, number(1), &[0; 4])?;
            Ok(0)
        }
        "environ_get" | "random_get" => Ok(0),
        "fd_write" => {
            let mut written = 0_u32;
            for part in 0..number(2) {
                let mut of = [0; 8];
                read(&caller, memory, number(1).wrapping_add(part.wrapping_mul(8)), &mut of)?;
                let [a, b, c, d, e, f, g, h] = of;
                let (at, len) = (u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h]));
                let mut text = vec![0; usize::try_from(len.min(4096)).unwrap_or_default()];
                read(&caller, memory, at, &mut text)?;
                written = written.wrapping_add(length(&text));
                std::io::Write::write_all(&mut std::io::stderr(), &text)
                    .map_err(|e| Error::new(e.to_string()))?;
            }
            write(&mut caller, memory, number(3), &written.to_le_bytes())?;
            Ok(0)
        }
        _ => Ok(NOT_THERE),
    }
}

fn length<T>(items: &[T]) -> u32 {
    u32::try_from(items.len()).unwrap_or(u32::MAX)
}

fn write(caller: &mut Caller<'_, Host>, memory: Memory, at: u32, bytes: &[u8]) -> Result<(), Error> {
    let at = usize::try_from(at).unwrap_or(usize::MAX);
    memory.write(caller, at, bytes).map_err(|error| Error::new(error.to_string()))
}

fn read(caller: &Caller<'_, Host>, memory: Memory, at: u32, bytes: &mut [u8]) -> Result<(), Error> {
    let at = usize::try_from(at).unwrap_or(usize::MAX);
    memory.read(caller, at, bytes).map_err(|error| Error::new(error.to_string()))
}
