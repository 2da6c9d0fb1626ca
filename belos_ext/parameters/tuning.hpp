#pragma once
/// \file
/// The numbers that methods and policies decide by: thresholds, factors and counts that no user sets.
///
/// Each says what it means and where it comes from: a paper by its key; a derivation; "Measured", with the numbers or
/// the test that shows them; "Chosen" where a round number does and nothing was measured. Whoever changes a measured
/// one runs that test again. "eps" is the machine epsilon of the scalars; an int "in eps" is multiplied by it where it
/// is used. What users may set stands in the parameter table; numbers fixed by a layout of data stand where that is.
///
/// Here are those of belos_ext/basis, convergence, dense, guess, orthogonalization, problem, solvers and spectrum: a
/// test finds one that stands elsewhere in these folders. Not here, but beside the code that uses them, are a few
/// limits of the other folders of belos_ext, and the numbers of tpetra_ext (sizes of kernels, trials of messages) and
/// of adapters (trials of preconditioners).

#include <array>
#include <cstddef>

namespace capstan::tuning {

/// convergence/stop_test
namespace stop_test {
/// A recursion is right while the computed residual is at most this much larger. Chosen.
inline constexpr double trusted = 2;
/// Residuals judged since the last iteration beyond which a solve is called stagnant. Chosen: the longest ladder, from
/// the guess of a pipelined method down to GMRES, judges about ten.
inline constexpr int mostJudgedInPlace = 20;
/// A failed claim that left more than this part of the residual made no progress, and ends the solve. Chosen.
inline constexpr double progress = 0.9;
/// Full cycles that leave the residual unchanged before the solve is called stagnant: a restarted method that makes no
/// progress in one whole cycle makes none in the next. Residuals of CG rise before they fall. Chosen.
inline constexpr int idleRestarts = 5;
/// A residual that fell by less than this part is unchanged. Chosen: well above rounding, well below any progress.
inline constexpr double unchanged = 1e-10;
/// A claim that came too early lowers the target by what was missing, but not by more than this at once: the residual
/// that is tested may fall faster than the one the recursion follows. Chosen.
inline constexpr double leastLowering = 0.1;
/// Each claim after it asks for this part more, so that x is not formed in every iteration. Chosen.
inline constexpr double laterClaims = 0.95;
/// A failed claim lowers the target by this factor beyond what was missing, one that came too early by no more. Chosen.
inline constexpr double leastPart = 0.5;
/// A residual below this many eps (|| b || + || |A| |x| ||) is rounding, where the target is below one. Measured:
/// iterative refinement ends near 1, and CG, which rounds x in each step, between 1 and 7 (bcsstk18 with Jacobi 6.4).
inline constexpr double roundingLevel = 10;
/// A residual within this factor of its target is measured in the norm of the tolerance. Chosen: CG rarely gains more
/// in an iteration, and the ratio of two norms changes little in one.
inline constexpr double nearClaim = 10;
/// The same where that costs half a product. Measured: in OpenFOAM's tutorials as many iterations as with 10.
inline constexpr double nearCostlyClaim = 3;
}  // namespace stop_test

/// convergence/residual_gap
namespace residual_gap {
/// A gap below this part of the target does no harm. Chosen.
inline constexpr double relevant = 0.1;
/// The recursive residual is still that of x while the gap is below this part of it. Chosen.
inline constexpr double small = 0.01;
/// The gap has to grow by this factor before the next replacement. Source: [van der Vorst and Ye 2000], section 3.
inline constexpr double grown = 1.1;
}  // namespace residual_gap

/// convergence/definiteness_watch
namespace definiteness {
/// Iterations without a new minimum, after A or M were seen not to be definite, that make CG hopeless. Chosen.
inline constexpr int patience = 200;
/// A minimum is new below this part of the last one. Chosen.
inline constexpr double progress = 0.99;
/// A residual this many times that of the guess has diverged. Chosen: CG of definite systems stays far below.
inline constexpr double divergence = 1e8;
/// How far (M^{-1} r, A p) may be from (p, A p), relative to both. Derived: rounding in it is relative to the norms, so
/// that only half of the number is taken for a sign.
inline constexpr double asymmetric = 0.5;
}  // namespace definiteness

/// convergence/predicted_norm
namespace predicted_norm {
/// A norm, or (r, M^{-1} r), predicted from products, in eps of the sum of their sizes, below which they have
/// cancelled. Chosen: two digits of the square are left then.
inline constexpr int cancelled = 500;
}  // namespace predicted_norm

/// solvers/cg
namespace cg {
/// A computed residual larger than the recursive one by this factor belongs to another direction. Chosen.
inline constexpr double lostFactor = 2;
/// Iterations between renewals of z = M^{-1} r; they cost an M^{-1} each, and M is linear and definite. Chosen.
inline constexpr int renewal = 100;
/// The same where M is indefinite. Measured: nasa4704 with RILU(0) takes 735 iterations never renewed, 525 renewed
/// every 20, 522 every 10, 511 always; Belos' TPETRA CG 534.
inline constexpr int renewalIndefinite = 10;
/// The same where z is no longer M^{-1} r. Chosen: half of that.
inline constexpr int renewalStrayed = 5;
/// (r, M^{-1} s) and (s, z) differ by more than rounding beyond this part of both. Chosen.
inline constexpr double strayed = 1e-3;
/// Steps whose products are measured, where M is costly: a solve that ends within them takes one M^{-1} less. Measured:
/// with DIC in pitzDaily, 70 iterations a solve, measured products alone take 7 in a hundred more iterations.
inline constexpr int measuredSteps = 20;
/// Where a residual shrinks to this part in an iteration, M does more, and costs more, than a reduction. Chosen.
inline constexpr double fast = 0.6;
/// Within this factor of its target it may meet the tolerance in another norm. Measured: with OpenFOAM's multigrid in
/// cavity3d 9 of 15 such residuals do; the ratio of the norms changes by up to 2 in an iteration.
inline constexpr double uncertain = 3;
/// Steps that are looked at for an M that is not linear and symmetric: rounding is small in them. Chosen.
inline constexpr int firstSteps = 3;
/// It is not where two forms of beta differ by more than this part of both. Chosen: OpenFOAM's multigrid differs by 0.1
/// and more, a linear M by rounding.
inline constexpr double variable = 1e-3;
/// Iterates below this part of the largest number are finite without a look at their entries. Chosen.
inline constexpr double farFromOverflow = 0.1;
}  // namespace cg

/// solvers/enlarged_cg
namespace enlarged_cg {
/// A direction depends on the others where the square of what they leave of it is below this many eps of its own.
/// Measured (numpy, 1138_bus, hypre_TEST_ij_A, nos7; t = 4, 8): dropping at 1e-6 costs up to twice the iterations, at
/// 1e-10 and below there is no difference.
inline constexpr int dependent = 50;
/// A pivot of a predicted Gram matrix of residuals counts above this many eps of what it was subtracted from. Derived:
/// N is reduced anew in the next iteration, so that a few digits are enough; 1e4 leaves about four.
inline constexpr int predicted = 10000;
/// A residual wanders that has not been smaller for this part of the iterations so far. Measured (numpy; t = 4, 8;
/// nos7, ex15, cavity-pc-64x64-i10, bcsstk18, bodyy5, msc01440 and four more, medians of 1 to 8 right-hand sides): 0.05
/// and 0.1 take 0.3 to 0.6 of CG's iterations on nos7 and ex15 with Jacobi, which not smoothed take up to 1.8, 3 for
/// one right-hand side; the error in the norm of A is at most 3.4 times CG's, but for 5 and 6 on two. Smoothed and
/// judged from the first they take up to a sixth less, bcsstk18 and bodyy5 too, with errors up to 38 times CG's.
/// Without the c of smoothed_residual.hpp, 13 of 63 small systems whose coefficients jump (t = 2, 4, 8) take over 2
/// more than CG, up to twice as many; with it none.
inline constexpr double wanders = 0.05;
/// And for so many at least. Chosen: CG's residual often rises for one or two.
inline constexpr int wandersFrom = 3;
/// It is smoothed below this many times its target: what lies above weighs little in the end. Measured there: 100 takes
/// as many iterations on the matrices, and up to 1.9 of CG's on three of the 63.
inline constexpr double smoothedFrom = 1000;
/// Directions of the first solve of a label. Chosen.
inline constexpr int firstAuto = 4;
/// The most directions that "auto" takes: they cost memory. Chosen.
inline constexpr int mostAuto = 16;
/// Iterations that the start and the end of a solve count as. Derived: the products of the first and the last residual.
inline constexpr int startUp = 2;
/// Iterations fall with t to this power, sooner or later, and by this part of what is missing sooner with the next t.
/// Measured (the systems of perf/campaigns/enlarged.yaml, t = 1 to 16): the powers from one t to the next are 0.26,
/// 0.41, 0.47, 0.49, and 0.16, 0.35, 0.44, 0.46; forecasts are wrong by up to 3 %.
inline constexpr double usualPower = 0.5;
inline constexpr double towardsUsual = 0.7;
/// A factor that is untried is tried where it is expected to take at most so many times the best one's seconds. Chosen.
inline constexpr double worthTrying = 1.08;
/// Solves of a factor that are kept. Measured (the systems of EnlargingFactor.FindsTheBestAmongDisturbedSolves, a
/// thousand seeds; one solve of five takes up to three times as long): of a thousand labels at most 18 are more than
/// 5 % above the best in their second hundred of solves.
inline constexpr int timesKept = 5;
/// How many times the best one's seconds a factor may have taken to be tried again, after one solve with it, two and
/// more. Chosen: a solve is seldom disturbed by more than twice its time, two are by less.
inline constexpr double nearAfterOne = 3;
inline constexpr double nearAfterTwo = 2;
inline constexpr double nearAfterMore = 1.5;
/// Only one of so many solves is spent on trying again. Chosen: the others take the best, so that their median does.
inline constexpr int againEvery = 4;
/// Not before so many. Chosen: until then the untried are tried.
inline constexpr int againFrom = 8;
/// Solves after which the neighbours of the best factor are timed again, times the square of how much slower they were:
/// that costs less than a hundredth. Chosen.
inline constexpr int trustedFor = 32;
/// A solve that takes less than this part of what its factor takes is one of another system. Chosen.
inline constexpr double otherSystem = 0.3;
/// Iterations for a digit of a solve that gained none. Chosen: more than any other.
inline constexpr double noProgress = 1e30;
}  // namespace enlarged_cg

/// solvers/bicgstab
namespace bicgstab {
/// Iterations in which the residual has not halved that end a cycle: residuals of BiCGStab rise and fall. Measured with
/// 20 right-hand sides and at most 3300 iterations, without a preconditioner: 1138_bus takes 1822 with 500 and 2381
/// with 1000 in the median, hypre_TEST_ij_A is solved 20 times and 12 times. With 300 both miss some of ten.
inline constexpr int patience = 500;
/// A quarter of the iterations that there may be, if that is less, so that the next method has some; at least so many.
/// Chosen.
inline constexpr int leastPatience = 50;
/// Iterations without a smaller residual that end a cycle where the recursion has fallen by all digits there are.
/// Chosen.
inline constexpr int fewIdle = 10;
/// A residual is smaller than the best one by at least this factor. Chosen.
inline constexpr double smaller = 0.9;
/// The recursion has fallen so far where it is below so many eps of the residual that the cycle began with. Chosen.
inline constexpr int allDigits = 1000;
/// A cycle that left more than this part of the residual gained nothing. Chosen: half of it, as for patience.
inline constexpr double progress = 0.5;
/// So many of these in a row end BiCGStab. Chosen.
inline constexpr int mostFruitless = 2;
/// Iterations after which the pipelined recurrences are begun anew from x and p^, and judged. Chosen: that takes 6 A, 6
/// in a hundred of what the iterations take.
inline constexpr int mostSteps = 50;
/// Error of (r*, s), in sqrt(eps) of it, with which the pipeline is given up. Derived: half the digits, with which
/// two-sided Lanczos recurrences still compute their projection of A to full accuracy [Day 1997].
inline constexpr double lostDigits = 1;
}  // namespace bicgstab

/// solvers/pipelined_cg
namespace pipelined_cg {
/// Iterations done that a new beginning throws away rather than go on with a doubtful direction. Measured: a new
/// beginning costs them at most; see goodDirection.
inline constexpr int fewIterations = 20;
/// From so many on it is lateDirection that a direction has to meet; between, the limit grows geometrically. Chosen.
inline constexpr int early = 100;
/// Error of a direction, in eps, with which a cycle may begin warm; 1e-9 in double precision. Measured: nos7, 9
/// iterations done: an error of 1e-7 costs 150 of CG's 542 iterations, one of 1e-10 costs 18.
inline constexpr double goodDirection = 5e6;
/// The same late in a solve, in sqrt(eps). Derived: half the digits are enough for what is left to do.
inline constexpr int lateDirection = 10;
/// The deepest pipeline. Derived: a sweep holds all recurrences.
inline constexpr int deepest = 20;
/// A computed residual larger than the recursive one by this factor has drifted. Chosen.
inline constexpr double driftFactor = 2;
/// Steps in which what is left to do tells how much error the basis may have. Chosen: later, few digits may take many
/// steps.
inline constexpr int shortSolve = 20;

/// The limit of | |v_j|^2 - 1 |, OrthogonalityWatch. Measured: RealMatrices.PipelinedCgKeepsUpWithCg and
/// PipelinedCg.DeepPipelinesKeepUpOnLaplacians; limits that do not follow the first errors cost p(8)-CG and p(10)-CG
/// half as many iterations again on the 2D Laplacian.
namespace orthogonality {
/// The limit in terms of the largest error seen while the pipeline fills, and the band of G after it.
inline constexpr double growth = 16;
/// That lasts so many times l steps. Derived: l to fill the pipeline, 2 l superdiagonals of G.
inline constexpr int filling = 3;
/// The limit is at least so many eps,
inline constexpr double least = 1e5;
/// and at most so many: beyond, restarts, l steps late, find a spoilt direction.
inline constexpr double most = 3e7;
/// The same where eps is large, as a number.
inline constexpr double mostAtAll = 0.05;
/// Part of what the residual still has to fall that an error may be instead. Derived: an error e in the basis is one of
/// e times the residual in the iterates to come.
inline constexpr double bearable = 0.01;
/// Errors of 16 steps of p(1), in eps, after which a deeper pipeline may follow. Measured: hypre_beam_hex_459 with
/// RILUK, 6e3 eps: p(2)-CG was lost 6 steps later, and with it 14 of 50 iterations.
inline constexpr double good = 1e3;
/// Such an error is at most this.
inline constexpr double mostBearable = 1e-2;
/// It is borne only where no more than these digits are left. Measured: before, an error costs convergence (bcsstk16:
/// 427 iterations for 265).
inline constexpr double lastDigits = 1e-3;
}  // namespace orthogonality

/// PipelineDepth
namespace depth {
/// Steps of a cycle that are worth a restart. Measured: 1138_bus with Jacobi on 2 ranks, p(3): 1060 iterations where
/// cycles of 20 steps were allowed, 917 with 100, CG 909.
inline constexpr int worthwhile = 100;
/// Restarts that a solve may have at any time, and the steps done that allow one more each. Measured: on
/// hypre_TEST_ij_A, where Hestenes and Stiefel's CG takes 2620 to 2830 iterations as the last digit of p has it, an
/// error of 1e-10 in one direction, as a restart leaves it, makes 2800 to 2970 of them, errors of 1e-8 in four
/// directions 3000 to 3420. With all restarts p(3)-CG took 3142 iterations on 2 ranks, CG 2823; with these 2847.
/// RealMatrices.PipelinedCgKeepsUpWithCg: 24 in a hundred iterations stay pipelined, 26 with all restarts, and the
/// worst ratio of a solve that fell back is 1.13, not 1.19.
inline constexpr int freeRestarts = 2;
inline constexpr int stepsOfARestart = 500;
}  // namespace depth
}  // namespace pipelined_cg

/// dense/pipelined_lanczos
namespace pipelined_lanczos {
/// What orthogonalisation leaves of (z_c, z_c), in eps of it, that is nothing but rounding. Chosen.
inline constexpr int rounding = 10;
}  // namespace pipelined_lanczos

/// supervision/pipeline_memory
namespace pipeline_memory {
/// What follows a failure got further where it left at most this part of the residual. Chosen.
inline constexpr double further = 0.1;
/// A solve may meet a failure again where its tolerance is below this many times the residual at which it was met.
/// Chosen: right-hand sides differ.
inline constexpr int near = 10;
/// A pipeline that hands over to the classical method after half of a solve may take so many times its products for a
/// digit. Chosen: a few products hide most of the reductions; right-hand sides differ by 2 or 3 in a hundred.
inline constexpr double slower = 1.05;
/// Bounds of the spectrum are the same if their ends have moved by less than this part of their distance. Chosen.
inline constexpr double sameBounds = 0.1;
}  // namespace pipeline_memory

/// supervision/arnoldi_method, candidate_iterate, restart_length, basis/exact_columns
namespace gmres {
/// A cycle may make the native residual larger by this factor. Chosen: rounding at the attainable accuracy.
inline constexpr double tolerated = 2;
/// The restart length where GMRES goes on for a symmetric method or for BiCGStab. Chosen: storage they did not ask for.
inline constexpr int fallbackRestart = 30;
/// The restart lengths tried where Belos' default needs too much memory; the first stands for the one wanted. Chosen.
inline constexpr std::array<int, 8> shorterRestarts = {0, 200, 150, 100, 70, 50, 30, 20};
/// Part of the error that H may have by [Simoncini and Szyld 2003] that is let in before a cycle is cut. Derived: many
/// panels add up, H gets worse conditioned as columns come, and products of strong preconditioners are rounded far more
/// than by eps. Measured: RealMatrices.SStepGmresKeepsUpWithGmres.
inline constexpr double safety = 1e-5;
/// Errors of H, in eps, that are borne in any case. Chosen: below, rounding of the products themselves decides.
inline constexpr int leastError = 100;
}  // namespace gmres

/// basis/exact_columns
namespace exact_columns {
/// Part of what an error of H may be for the residual to meet the target. Chosen.
inline constexpr double exactEnough = 0.01;
/// An H as exact as this is worth a few columns. Chosen, as gmres::safety.
inline constexpr double veryExact = 1e-5;
/// They are one in so many. Chosen.
inline constexpr int fewOf = 20;
/// || Q^T Q - I ||_F^2 below which vectors can be orthonormalised again. Derived: a norm below 1/2 leaves || Q^T Q ||
/// and its inverse below 2.
inline constexpr double independent = 0.25;
}  // namespace exact_columns

/// convergence/iteration_pace
namespace iteration_pace {
/// Iterations of which the median is taken, the last ones of a solve. Chosen: 8 kB.
inline constexpr int kept = 1024;
}  // namespace iteration_pace

/// convergence/expected_end
namespace expected_end {
/// Iterations whose mean rate is taken for that of those to come, at most and at least. Chosen: GMRES atop multigrid
/// changes its rate slowly, and one step alone is often a lucky or an idle one.
inline constexpr int window = 5;
inline constexpr int least = 2;
/// Iterations from which the rate may say that a solve ends sooner than all before it. Chosen.
inline constexpr int trusted = 4;
/// More iterations than that are not worth a guess. Chosen.
inline constexpr double farAway = 1000;
/// How many iterations behind the longest of the earlier solves the rate may point while the solve is still taken to
/// end there; by as many more as are left where earlier solves differ by no more than `alike`. Chosen: a solve that
/// does go on has lost its pipeline, one that does not would have made as many products in vain.
inline constexpr int late = 2;
inline constexpr int alike = 1;
/// How many earlier solves are remembered. Chosen.
inline constexpr int remembered = 8;
/// A target that falls below this part of what it was is another one: a norm other than the 2-norm has been measured.
/// Chosen: the ratio of the norms changes less than that once it has been measured near the end.
inline constexpr double another = 0.5;
}  // namespace expected_end

/// basis/step_size, the steps s of s-step GMRES
namespace step_size {
/// The largest s that is chosen automatically. Chosen.
inline constexpr int largest = 30;
/// The same where a product costs more than a reduction. Chosen.
inline constexpr int largestCostly = 16;
/// s grows by this factor at most from one panel to the next. Chosen.
inline constexpr double growth = 2;
/// A panel is shortened, where products are cheap, to at most this part of its steps. Chosen.
inline constexpr double worthShortening = 0.67;
/// But not below so many, nor below half of them. Chosen: as many products may cost more than a reduction.
inline constexpr int fewSteps = 8;
/// s grows after panels of a condition below this. Derived: a panel of condition kappa loses kappa^2 eps of
/// orthogonality, so that kappa is kept well under 1 / sqrt(eps) ~ 7e7.
inline constexpr double comfortable = 1e4;
/// s shrinks after panels of a condition above this. Derived likewise.
inline constexpr double strained = 1e6;
}  // namespace step_size

/// basis/panel_errors
namespace panel_errors {
/// Panels are planned for errors so many times smaller than those that are borne. Chosen: a panel that is cut costs
/// products, one that is too short a part of a reduction.
inline constexpr double margin = 3;
/// Panels that are looked back at. Measured, with looser limits: with 4 orsirr_1 makes 1.15 products an iteration, with
/// 16 1.04.
inline constexpr std::size_t samples = 16;
/// Of these, so many are new for a panel. Chosen: what they cost, s j^2 operations each.
inline constexpr int fresh = 2;
/// A panel has no more steps than this part of the columns before it, or so many: shorter ones have inherited too
/// little to tell what longer ones will. Measured, with looser limits: without, orsirr_1 makes 1.13 products an
/// iteration.
inline constexpr double growth = 0.67;
inline constexpr int alwaysTried = 5;
/// A panel that was cut counts as so many. Measured, with looser limits: once, opm_spe1 makes 1.06 products an
/// iteration, as H does not tell what the next product brings.
inline constexpr int cutCounts = 4;
/// A reduction, in products: small, as M may be a multigrid cycle. Measured on 2 ranks on pores_2, mhd3200a, opm_spe1,
/// cryg2500, orsirr_1 and memplus: at most 1.05 products an iteration; with looser limits more on four from 0.35.
inline constexpr double reduction = 0.2;
}  // namespace panel_errors

/// supervision/block_length, the vectors t of a block of pipelined CA-GMRES
namespace block_length {
/// The largest t that is chosen automatically. Chosen.
inline constexpr int largest = 10;
/// t grows after cycles of a condition below this. Measured on real matrices: cycles broke down at conditions from 10
/// to 1e7, so that none foretells it.
inline constexpr double comfortable = 30;
/// t shrinks after cycles of a condition above this. Measured likewise.
inline constexpr double strained = 1e5;
/// t grows where a cycle was so many times as long as the pipeline would be. Chosen: what runs ahead is lost at the
/// end.
inline constexpr int longCycle = 3;
/// t shrinks where the only cycle was less than so many times as long as the pipeline. Chosen, likewise.
inline constexpr int shortCycle = 2;
}  // namespace block_length

/// solvers/gmres/pipelined_gmres
namespace pipelined_gmres {
/// Fruitless cycles after which all are classical. Chosen.
inline constexpr int maxFruitless = 3;
/// Errors of H that may delay convergence, though the residual may still be met. Measured: superlinear convergence of a
/// nonnormal operator (BentPipe2D100) comes 4 iterations later with errors of 1e-9, and then misses its cycle.
inline constexpr double mostError = 1e-10;
/// How many vectors of a cycle may be orthogonalised again, one product ahead. Measured on real matrices.
inline constexpr int maxAgain = 3;
/// The same several products ahead: none. Measured on real matrices: a deep pipeline loses more iterations in the
/// vectors that follow than a new cycle costs.
inline constexpr int maxAgainAhead = 0;
/// A broken cycle that left more than this part of the residual is not worth a restart. Chosen.
inline constexpr double progress = 0.9;
/// True and recursive residuals may differ by this factor at the end of a cycle. Chosen.
inline constexpr int astray = 10;
/// Classical cycles tell of an M that is not linear where so much is left of what they began with: rounding leaves
/// less. Chosen.
inline constexpr double brokenPart = 1e-4;
}  // namespace pipelined_gmres

/// orthogonalization
namespace orthogonalization {
/// What a projection leaves of a vector, in eps of it, that is nothing but rounding: the vector depends on the others.
/// In a Cholesky factorisation of the pivot, a square, likewise. Chosen.
inline constexpr int rounding = 50;
/// A square found by subtraction, in eps of what it was subtracted from, is trusted above this. Chosen.
inline constexpr int trustedSquare = 10;
/// A basis of this condition needs no second pass of the second stage. Chosen: a pass
/// leaves errors of kappa^2 eps.
inline constexpr double wellConditioned = 10;
/// Squares of a norm that should be 1, between which a vector is normalised by it; beyond, it is none. Chosen.
inline constexpr double leastNorm2 = 0.25;
inline constexpr double mostNorm2 = 4;
}  // namespace orthogonalization

/// dense/relation_error
namespace relation_error {
/// What a panel may lose of orthonormality before the next one normalises it again. Chosen.
inline constexpr double mostLost = 1e-3;
/// An estimated error of H, in eps, large enough to be compared with the one that is there. Chosen: above what a
/// product of orthonormal vectors is rounded by.
inline constexpr int measurable = 30;
/// Errors this many times their estimate are no accident. Measured where panels are first cut: up to 16 times on 30
/// systems, with and without preconditioner; 31 to 1500 times on cryg2500 with RILU(0).
inline constexpr int rough = 20;
/// Columns that are made again where they are found to have such errors. Chosen: about three panels.
inline constexpr int mostTakenBack = 16;
}  // namespace relation_error

/// basis/basis_recurrence
namespace basis {
/// How much wider than the Ritz values the interval of Chebyshev polynomials is. Derived: they lie inside the spectrum.
inline constexpr double widened = 1.05;
/// The least width, and scale, as part of the largest Ritz value. Chosen: not nothing.
inline constexpr double leastWidth = 1e-3;
}  // namespace basis

/// spectrum
namespace spectrum {
/// Steps of the estimate, and their panels: monomial steps first, Newton's with the Ritz values of half of them then.
/// Measured: with bounds from 16 steps p(5)-CG follows CG.
inline constexpr int steps = 16;
inline constexpr std::array<int, 3> panels = {3, 5, 8};
/// The largest Ritz values of k / 2 and of k steps differ by so many times what the latter lacks. Derived from the rate
/// 1 / k^2 of [Kuczynski and Wozniakowski 1992].
inline constexpr int extrapolation = 3;
/// Ritz values may exceed remembered bounds of the spectrum by this factor. Chosen.
inline constexpr double largestOvershoot = 1.5;
/// Columns from which Ritz values tell something, and beyond which all eigenvalues cost more than they tell. Chosen.
inline constexpr int few = 8;
inline constexpr int enough = 20;
/// Columns from which they tell more than a first product. Chosen.
inline constexpr int fewest = 4;
/// Part of the largest Ritz value above which the smallest tells that no eigenvalue is near zero. Chosen; half of it is
/// then the lower bound.
inline constexpr double small = 0.1;
/// Half the length of a rough interval, in standard deviations of the spectrum as a vector sees it. Chosen: a uniform
/// density reaches to 1.7.
inline constexpr double spreads = 2;
/// First columns whose largest Ritz value is compared between solves: later ones may be spurious. Chosen.
inline constexpr int first = 3;
/// Remembered bounds are dropped where that value is so many times smaller than before; where columns are few, so many.
/// Chosen.
inline constexpr int shrunk = 4;
inline constexpr int shrunkOfFew = 20;
/// How far Ritz values may leave the bounds of the user, as part of their length. Chosen.
inline constexpr double slack = 0.05;
/// How much larger than the largest Ritz value a bound is made. Chosen: Ritz values lie inside the spectrum.
inline constexpr double margin = 1.01;
}  // namespace spectrum

/// spectrum/chebyshev_polynomial
namespace polynomial {
/// The lower end of the interval over its upper end, times the square of the degree. Measured on Laplacians and on
/// matrices of finite elements, with Jacobi and DIC, degrees 3 to 12: from 0.5 to 1 CG takes 1.1 to 1.3 of the products
/// that it takes without; half of that and twice that are worse for strong preconditioners and weak ones.
inline constexpr double lower = 0.75;
/// How much larger than its estimate the upper end is made. Chosen: above it the polynomial would soon be negative.
inline constexpr double margin = 1.05;
/// A solve that takes so many times the iterations that one before has led to expect puts its bounds in doubt; those
/// estimated then are the same where the far end has moved by no more than this part. Chosen.
inline constexpr double slower = 1.5;
inline constexpr double same = 0.25;
/// Ritz values beyond the image of the interval by this factor prove bounds wrong: beyond rounding. Chosen.
inline constexpr double wrong = 1.001;
/// By this factor they do harm enough to begin anew at once. Derived: such a condition number takes sqrt(2) times the
/// iterations.
inline constexpr double harmful = 2;
/// Bounds that one solve tries, those of an earlier one and an estimate among them. Chosen: each is proved too narrow
/// by the last one, and made wider.
inline constexpr int mostTrials = 5;
/// The highest degree. Chosen: as many products for an iteration hide any all-reduce.
inline constexpr int highest = 64;
}  // namespace polynomial

/// problem/symmetry_check
namespace symmetry {
/// Differences that rounding in an assembly may leave, relative to the row's sum of absolute values. Chosen.
inline constexpr double tolerance = 1e-10;
/// The same in eps, where eps is large. Chosen.
inline constexpr double toleranceInEps = 100;
}  // namespace symmetry

/// guess
namespace guess {
/// The highest degree of an extrapolation in time. Chosen: beyond, coefficients of alternating sign make noise of the
/// digits that a solve leaves open.
inline constexpr int highestOrder = 3;
/// The most vectors that are projected on. Chosen: as many vectors again are images.
inline constexpr int mostVectors = 20;
/// A direction depends on newer ones where no more than this part of its square is left beside them. Measured:
/// GuessProjection.SavesIterationsOfAHeatEquation takes 354 iterations of GMRES with 1e-10 to 2e-14, 363 with 1e-8.
inline constexpr double dependent = 1e-12;
/// A predicted norm that is less than so many sqrt(eps) of the residual is nothing but rounding. Derived: its square is
/// a difference of squares, of which a few eps are left.
inline constexpr int rounding = 10;
/// A computed residual bears a prediction out up to this factor; the next guess is then taken without a look. Chosen.
inline constexpr double confirmed = 1.5;
/// Images A x belong to another A where they mispredicted a residual that did not fall to this part. Chosen: a guess
/// that gains a factor of ten is worth having, however it came about.
inline constexpr double stale = 0.1;
/// Where A changes, a product with each vector comes first. An iteration is as good as so many products where there is
/// a preconditioner of unknown cost. Chosen: about 4 with ILU(0), of many iterations, some 30 with multigrid, of few.
inline constexpr double productsOfAnIteration = 10;
/// The most solves in a row that go without a guess after guesses that were not worth their cost. Chosen.
inline constexpr int longestRest = 32;
/// A has not changed where (d, A d) or (A d, A d) of an earlier d is the same up to this part. Chosen: rounding of a
/// sum.
inline constexpr double same = 1e-10;
/// After so many solves with the same A it is taken to stay. Chosen: more than the correctors of a time step.
inline constexpr int steady = 10;
/// So many solves in a row begin like those before them, with a reduction, although they want no guess. Chosen: as many
/// as those of another solver may be between two that do.
inline constexpr int patience = 4;
/// Keys of solves whose order a communicator remembers. Chosen, as StateCache.
inline constexpr std::size_t mostKeys = 64;
}  // namespace guess

/// problem/constant_null_space
namespace null_space {
/// A constant in a vector below this part of sqrt(eps) of it is rounding. Derived: above what a sum of n terms has.
inline constexpr double rounding = 0.1;
/// A p of which the constant is this many times the rest is all but constant. Derived: A p has lost three digits.
/// Measured: projecting earlier, without a preconditioner, with Jacobi or RILUK, made 318 iterations of 64.
inline constexpr double large = 1e3;
/// A difference of squares below this part of them has lost too many digits. Chosen.
inline constexpr double cancelled = 1e-3;
/// What of the tolerance a constant that stays in b - A x may take. Chosen: half for the rest.
inline constexpr double allowed = 0.5;
}  // namespace null_space

}  // namespace capstan::tuning
