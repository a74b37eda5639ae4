//! Scores, and that the choice is among those who have one.

use headroom_bench::dice::Dice;

use crate::case::{Case, drawn, random_pool};

#[test]
fn the_choice_survived_and_scores_are_between_0_and_1() {
    let mut dice = Dice::new(2);
    for number in 0..2_000 {
        let (pool, snapshot) = (drawn(&mut dice).pool, random_pool(&mut dice));
        let case = Case::new(&mut dice, &pool, snapshot);
        for run in case.schedule().runs {
            let survivors: Vec<usize> = run.decision.candidates.iter().map(|found| found.endpoint).collect();
            if let Some(choice) = run.decision.choice() {
                assert!(survivors.contains(&choice), "{number}: {choice} is not of {survivors:?}\nin {pool}");
            }
            let scorers = &case.spec.scheduler.profiles[run.profile].scorers;
            for candidate in run.decision.candidates {
                assert_eq!(candidate.opinions.len(), scorers.len(), "{number}: an opinion a scorer");
                let mut total = 0.0;
                for (scorer, opinion) in scorers.iter().zip(candidate.opinions) {
                    let score = opinion.score.get();
                    assert!((0.0..=1.0).contains(&score), "{number}: {} says {score}", scorer.name);
                    total += scorer.weight * score;
                }
                assert!((total - candidate.total).abs() < 1e-9, "{number}: {total} {}", candidate.total);
            }
        }
    }
}
