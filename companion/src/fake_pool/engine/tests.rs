use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::fake_pool::tokens::{Token, tokenize};

const LIMITS: Limits =
    Limits { max_running: 4, max_batched_tokens: 64, kv_blocks: 32, block_size: 4, max_model_len: 128 };
const TIMING: Timing = Timing {
    step_ms: 10.0,
    host_share: 0.0,
    per_sequence_ms: 1.0,
    prefill_ms_per_token: 0.5,
    kv_read_ms_per_block: 0.25,
    jitter: 0.0,
    contention: 0.5,
};
const CALM: Condition = Condition { speed: 1.0, gpu_load: 0.0 };

fn ms(ms: f64) -> Duration {
    Duration::from_secs_f64(ms / 1000.0)
}

fn engine() -> Engine {
    Engine::new(LIMITS, TIMING, CALM, 1)
}

/// A prompt of `len` tokens; those of the same `family` start alike.
fn prompt(family: u32, len: usize) -> Context {
    Context::new("m", (family * 1000..).map(Token::numbered).take(len), LIMITS.block_size)
}

fn submission(family: u32, len: usize, output_tokens: usize) -> Submission {
    Submission { prompt: prompt(family, len), output_tokens, finish: FinishReason::Length }
}

fn run(engine: &mut Engine) -> Vec<Produced> {
    let mut produced = Vec::new();
    while let Some(at) = engine.wake_at() {
        engine.advance(at, &mut produced);
    }
    produced
}

fn times(produced: &[Produced], request: RequestId) -> Vec<f64> {
    let of = produced.iter().filter(|token| token.request == request);
    of.map(|token| (token.at.as_secs_f64() * 1e6).round() / 1e3).collect()
}

#[test]
fn a_step_takes_what_its_work_takes() {
    let mut engine = engine();
    let request = engine.submit(submission(1, 16, 3), ms(100.0)).expect("fits");
    // 16 prompt tokens in 4 blocks, then one token in a fifth block.
    let first = 100.0 + 10.0 + 1.0 + 16.0 * 0.5 + 4.0 * 0.25;
    let then = 10.0 + 1.0 + 5.0 * 0.25;
    assert_eq!(times(&run(&mut engine), request), [first, first + then, first + 2.0 * then]);
    assert_eq!(engine.stats().prompt_tokens, 16);
    assert_eq!(engine.stats().generation_tokens, 3);
    assert_eq!(engine.stats().reached_length, 1);
    assert_eq!(engine.stats().time_to_first_token.count(), 1);
}

#[test]
fn a_slow_gpu_and_a_noisy_neighbour_stretch_the_step() {
    for (speed, gpu_load, stretch) in
        [(0.5, 0.0, 2.0), (1.0, 1.0, 2.0), (2.0, 0.5, 1.0 / 1.5), (1.0, 0.0, 1.0)]
    {
        let mut engine = Engine::new(LIMITS, TIMING, Condition { speed, gpu_load }, 1);
        let request = engine.submit(submission(1, 16, 1), Duration::ZERO).expect("fits");
        let expected: f64 = 20.0 * stretch;
        assert_eq!(times(&run(&mut engine), request), [(expected * 1e3).round() / 1e3]);
    }
}

#[test]
fn a_long_prompt_is_cut_into_chunks() {
    let mut engine = engine();
    let request = engine.submit(submission(1, 100, 1), Duration::ZERO).expect("fits");
    let blocks = 25.0 * 0.25;
    let expected = 2.0 * (10.0 + 1.0 + blocks) + 100.0 * 0.5;
    assert_eq!(times(&run(&mut engine), request), [expected]);
}

#[test]
fn the_batch_limit_lets_the_rest_wait_in_order() {
    let mut engine = engine();
    let requests: Vec<_> =
        (0..6).map(|family| engine.submit(submission(family, 4, 5), Duration::ZERO).expect("fits")).collect();
    engine.advance(Duration::ZERO, &mut Vec::new());
    assert_eq!((engine.running(), engine.waiting()), (4, 2));
    let produced = run(&mut engine);
    let firsts: Vec<_> = requests.iter().map(|request| times(&produced, *request)[0]).collect();
    assert!(firsts[..4].iter().all(|first| *first < firsts[4]), "{firsts:?}");
    assert_eq!((engine.running(), engine.waiting()), (0, 0));
}

#[test]
fn what_was_seen_before_is_not_computed_again() {
    let mut engine = engine();
    engine.submit(submission(1, 40, 1), Duration::ZERO).expect("fits");
    let cold = run(&mut engine);
    engine.submit(submission(1, 40, 1), ms(1000.0)).expect("fits");
    let warm = run(&mut engine);
    // The last token is always computed, so of ten full blocks nine can be reused.
    assert_eq!((cold[0].cached_tokens, warm[0].cached_tokens), (0, 36));
    let saved = cold[0].at - (warm[0].at - ms(1000.0));
    assert_eq!(saved, ms(36.0 * 0.5));
    assert_eq!((engine.stats().prefix_queries, engine.stats().prefix_hits), (80, 36));
}

#[test]
fn the_next_turn_of_a_chat_reuses_the_answer() {
    let mut engine = engine();
    engine.submit(submission(1, 16, 17), Duration::ZERO).expect("fits");
    let mut turn = prompt(1, 16);
    for token in run(&mut engine) {
        tokenize(token.word).for_each(|token| turn.push(token));
    }
    let next = Submission { prompt: turn, output_tokens: 1, finish: FinishReason::Stop };
    engine.submit(next, ms(5000.0)).expect("fits");
    assert_eq!(run(&mut engine)[0].cached_tokens, 32);
    assert_eq!(engine.stats().stopped, 1);
}

#[test]
fn blocks_unused_the_longest_make_room() {
    let mut engine = engine();
    for (at, family) in [(0.0, 1), (1000.0, 2), (2000.0, 1), (3000.0, 3)] {
        engine.submit(submission(family, 48, 1), ms(at)).expect("fits");
        run(&mut engine);
    }
    let mut cached = |at: f64, family| {
        engine.submit(submission(family, 48, 1), ms(at)).expect("fits");
        run(&mut engine)[0].cached_tokens
    };
    assert_eq!(cached(4000.0, 1), 44);
    // 32 blocks: 12 of family 1 and a copy of its last one, 12 of family 3, the first 7 of family 2.
    assert_eq!(cached(5000.0, 2), 28);
}

#[test]
fn whoever_came_last_gives_way_when_the_cache_is_full() {
    let mut engine = engine();
    let old = engine.submit(submission(1, 60, 60), Duration::ZERO).expect("fits");
    let new = engine.submit(submission(2, 60, 60), Duration::ZERO).expect("fits");
    let produced = run(&mut engine);
    assert!(engine.stats().preemptions > 0);
    assert_eq!(times(&produced, old).len(), 60);
    assert_eq!(times(&produced, new).len(), 60);
    assert!(times(&produced, old)[59] < times(&produced, new)[59]);
    assert_eq!(engine.kv.used(), 0);
}

#[test]
fn a_cancelled_request_gives_its_blocks_back_at_once() {
    let mut engine = engine();
    let request = engine.submit(submission(1, 40, 50), Duration::ZERO).expect("fits");
    engine.advance(ms(100.0), &mut Vec::new());
    assert!(engine.kv_usage() > 0.3);
    assert!(engine.cancel(request));
    assert_eq!(engine.kv.used(), 0);
    assert_eq!(engine.running(), 0);
    assert!(!engine.cancel(request));
    assert_eq!(run(&mut engine), []);
    assert_eq!(engine.stats().aborted, 1);
}

#[test]
fn what_could_never_fit_is_refused() {
    let mut engine = engine();
    let refused = |engine: &mut Engine, len, output| {
        engine.submit(submission(1, len, output), Duration::ZERO).expect_err("refused")
    };
    assert_eq!(
        refused(&mut engine, 100, 29),
        Refused::TooLong { prompt: 100, output: 29, max_model_len: 128 }
    );
    assert_eq!(refused(&mut engine, 0, 1), Refused::EmptyPrompt);
    assert_eq!(refused(&mut engine, 1, 0), Refused::NoOutput);
    assert!(engine.submit(submission(1, 100, 28), Duration::ZERO).is_ok());
    assert_eq!(run(&mut engine).len(), 28);
}

#[test]
fn a_flood_is_refused_once_too_many_wait() {
    let mut engine = engine();
    for _ in 0..MAX_WAITING {
        engine.submit(submission(0, 10, 1), Duration::ZERO).expect("room to wait");
    }
    assert_eq!(engine.submit(submission(0, 10, 1), Duration::ZERO), Err(Refused::QueueFull));
    assert!(engine.cancel(0));
    engine.submit(submission(0, 10, 1), Duration::ZERO).expect("room again");
}

#[test]
fn utilization_is_own_work_and_injected_load() {
    let mut engine = engine();
    engine.submit(submission(1, 16, 1), Duration::ZERO).expect("fits");
    run(&mut engine);
    assert!((engine.gpu_utilization(ms(20.0)) - 0.02).abs() < 1e-9);
    engine.set_condition(Condition { gpu_load: 0.5, ..CALM });
    assert!((engine.gpu_utilization(ms(20.0)) - 0.52).abs() < 1e-9);
    engine.set_condition(Condition { gpu_load: 1.0, ..CALM });
    assert!((engine.gpu_utilization(ms(20.0)) - 1.0).abs() < 1e-9);
}

#[test]
fn the_gpu_idles_while_the_host_works() {
    let mut engine = Engine::new(LIMITS, Timing { host_share: 0.5, ..TIMING }, CALM, 1);
    engine.submit(submission(1, 16, 1), Duration::ZERO).expect("fits");
    run(&mut engine);
    assert!((engine.gpu_utilization(ms(5.0)) - 0.0).abs() < 1e-9);
    assert!((engine.gpu_utilization(ms(20.0)) - 0.015).abs() < 1e-9);
}

#[derive(Clone, Debug)]
enum Action {
    Submit { family: u32, len: usize, output: usize },
    Cancel(usize),
    Wait(u64),
}

fn actions() -> impl Strategy<Value = Vec<Action>> {
    let action = prop_oneof![
        4 => (0_u32..3, 1_usize..90, 1_usize..38)
            .prop_map(|(family, len, output)| Action::Submit { family, len, output }),
        1 => any::<usize>().prop_map(Action::Cancel),
        3 => (0_u64..200).prop_map(Action::Wait),
    ];
    proptest::collection::vec(action, 1..60)
}

fn jittery(seed: u64) -> Engine {
    Engine::new(LIMITS, Timing { jitter: 0.2, ..TIMING }, CALM, seed)
}

/// Does the actions; `glances` more times are looked at within each wait.
fn trace(engine: &mut Engine, actions: &[Action], glances: u32) -> Vec<Produced> {
    let (mut now, mut produced) = (Duration::ZERO, Vec::new());
    for action in actions {
        match action {
            Action::Submit { family, len, output } => {
                engine.submit(submission(*family, *len, *output), now).expect("fits");
            }
            Action::Cancel(_) => {}
            Action::Wait(time) => {
                for _ in 0..=glances {
                    now += Duration::from_millis(*time) / (glances + 1);
                    engine.advance(now, &mut produced);
                }
            }
        }
    }
    produced.extend(run(engine));
    produced
}

proptest! {
    #[test]
    fn no_request_is_lost_and_the_cache_never_overflows(actions in actions(), seed in any::<u64>()) {
        let mut engine = jittery(seed);
        let (mut now, mut produced) = (Duration::ZERO, Vec::new());
        let mut wanted = BTreeMap::new();
        for action in &actions {
            match action {
                Action::Submit { family, len, output } => {
                    let id = engine.submit(submission(*family, *len, *output), now).expect("fits");
                    wanted.insert(id, *output);
                }
                Action::Cancel(choice) => {
                    let id = *choice as u64 % (wanted.len() as u64 + 1);
                    if engine.cancel(id) {
                        wanted.remove(&id);
                        produced.retain(|token: &Produced| token.request != id);
                    }
                }
                Action::Wait(time) => {
                    now += Duration::from_millis(*time);
                    engine.advance(now, &mut produced);
                }
            }
            prop_assert!(engine.kv.used() <= engine.kv.capacity());
            prop_assert!(engine.running() <= LIMITS.max_running);
            prop_assert!(engine.running() > 0 || engine.waiting() > 0 || engine.kv.used() == 0);
            prop_assert!((0.0..=1.0).contains(&engine.gpu_utilization(now)));
        }
        produced.extend(run(&mut engine));
        prop_assert_eq!(engine.kv.used(), 0);
        prop_assert_eq!((engine.running(), engine.waiting()), (0, 0));
        let mut got = BTreeMap::new();
        for token in &produced {
            let tokens: &mut (usize, bool) = got.entry(token.request).or_default();
            prop_assert!(!tokens.1, "a token after the last one");
            *tokens = (tokens.0 + 1, token.last);
        }
        let complete: BTreeMap<_, _> = wanted.into_iter().map(|(id, output)| (id, (output, true))).collect();
        prop_assert_eq!(got, complete);
    }

    #[test]
    fn the_same_seed_gives_the_same_trace_however_often_one_looks(actions in actions(), seed in any::<u64>()) {
        let seldom = trace(&mut jittery(seed), &actions, 0);
        prop_assert_eq!(&seldom, &trace(&mut jittery(seed), &actions, 0));
        prop_assert_eq!(&seldom, &trace(&mut jittery(seed), &actions, 7));
        prop_assert!(seldom.is_sorted_by_key(|token| token.at));
        let other = trace(&mut jittery(!seed), &actions, 0);
        prop_assert!(seldom.is_empty() || seldom.iter().zip(&other).any(|(a, b)| a.at != b.at));
    }
}
