import type { LogEntry } from '../../events/event-log.ts';
import type { Limiter } from './limiter.ts';
import { askedLater, healthyAgain, isDown, probeDelayMsMax, type EndpointHealth } from './endpoint-health.ts';
import type { Lane } from './lanes.ts';
import { correctedHealth, correctedLane, healthAfterGap } from './stepped-clock.ts';
import { Track, type TrackStart, type Turn, type Work } from './track.ts';
import type { Verdict, VerdictRules } from './verdict.ts';

export interface SchedulerRules {
  readonly retryMs: readonly number[];
  readonly random: () => number;
}

/** The scheduler's part of a subscription as it is stored. */
export interface SchedulerStart extends TrackStart {
  readonly health: EndpointHealth;
  readonly releasedAt: number;
  readonly limiter: Limiter;
}

type Kind = 'first' | 'retry' | 'replay';

const retriesEvery = 4;
const replaysEvery = 16;

/**
 * Decides which event of a subscription is sent next, without I/O: which events are ready, in flight, behind
 * another event of their filing or in a lane, and the endpoint's health. First attempts go before retries,
 * retries before replays, and none of them starves. A filing never has two events in flight, wherever they
 * come from. Nothing is in flight at first.
 */
export class SendScheduler {
  /** The events of the log. */
  readonly live: Track;
  readonly #rules: SchedulerRules;
  readonly #limiter: Limiter;
  // That of the log, and behind it that of the replay if there is one.
  #tracks: readonly Track[];
  #health: EndpointHealth;
  #releasedAt: number;
  #round = 0;
  #starts = 0;
  #replaysInFlight = 0;

  constructor(rules: SchedulerRules, start: SchedulerStart) {
    this.#rules = rules;
    this.#limiter = start.limiter;
    this.#health = start.health;
    this.#releasedAt = start.releasedAt;
    this.live = new Track(start, start.limiter, null);
    this.#tracks = [this.live];
  }

  /** Begins to send a replay's events when there are no others. */
  startReplay(id: string, start: TrackStart): Track {
    const track = new Track(start, this.#limiter, id);
    this.#tracks = [this.live, track];
    return track;
  }

  /** The replay is finished or cancelled; the results of its events in flight count for the endpoint only. */
  endReplay(): void {
    this.#tracks = [this.live];
  }

  /** Starts the next event that may be sent now. Null if there is none. */
  startNext(now: number): Work | null {
    const probe = isDown(this.#health);
    if (this.#limiter.rate.inMs(now) > 0 || !this.#isOpen(now)) return null;
    for (const kind of turnOrder(probe ? this.#health.probes : this.#starts + 1, probe)) {
      const turn = this.#startTurn(kind, probe ? Infinity : now);
      if (turn === null) continue;
      const replay = kind === 'replay' ? (this.#tracks[1]?.replay ?? null) : null;
      this.#starts += 1;
      if (replay !== null) this.#replaysInFlight += 1;
      return this.#begin(turn, replay, probe, now);
    }
    return null;
  }

  /** Starts a `ping`, which asks a down endpoint if no event waits. */
  startPing(entry: LogEntry, now: number): Work {
    const { position, filingId } = entry;
    return this.#begin({ position, entry, filingId, attempt: 1 }, null, true, now);
  }

  /** Whether `startNext` would start an event now, if the rate allowed it. */
  mayStart(now: number): boolean {
    if (!this.#isOpen(now)) return false;
    // Any event may serve as a probe, because due times have no meaning while the endpoint is down.
    const due = isDown(this.#health) ? Infinity : now;
    return this.live.mayStart(due) || this.#openReplay()?.mayStart(due) === true;
  }

  /** The endpoint's health after all results settled so far. */
  health(): EndpointHealth {
    return this.#health;
  }

  /** The lane of an event in flight; undefined on its first attempt. */
  laneOf(work: Work): Lane | undefined {
    return this.#trackOf(work)?.lanes.get(work.filingId);
  }

  /** The rules by which results are judged. */
  verdictRules(): VerdictRules {
    return { ...this.#rules, round: this.#round };
  }

  /** Puts a verdict into effect. The event's filing stays busy until `unblock`. */
  settle(work: Work, { fate, health, retryNow }: Verdict, now: number): void {
    this.#trackOf(work)?.settle(work, fate, now);
    this.#health = health;
    if (retryNow === 'all') this.#retryAllNow(now);
    else this.#retryDoubted(retryNow, now);
  }

  /** The result is written, so the filing's next event may start. */
  unblock({ filingId, replay }: Work): void {
    this.#limiter.ended(filingId);
    if (replay !== null) this.#replaysInFlight -= 1;
    for (const each of this.#tracks) each.unblock(filingId);
  }

  /** The subscription is disabled for failing: the next probe is sent in an hour. */
  askLater(now: number): void {
    this.#health = askedLater(this.#health, now);
  }

  /** Makes every waiting event due. Attempts in flight no longer count for or against the endpoint. */
  retryNow(now: number): void {
    this.#round += 1;
    this.#health = healthyAgain(this.#health);
    this.#retryAllNow(now);
  }

  /** Corrects all times after Redis's clock, which was ahead by `aheadMs`, has been set right. */
  setBack(aheadMs: number, now: number): void {
    this.#health = correctedHealth(this.#health, aheadMs, now);
    this.#releasedAt = Math.min(this.#releasedAt, now);
    for (const { lanes } of this.#tracks) lanes.correct((lane) => correctedLane(lane, aheadMs, now));
  }

  /** Takes note that an event was due at `expectedAt` and no attempt was made until now. */
  resume(expectedAt: number, now: number): void {
    this.#health = healthAfterGap(this.#health, expectedAt, now);
  }

  isPaused(now: number): boolean {
    return now < this.#health.pausedUntil;
  }

  /** When everything was last made due at once, in milliseconds; 0 = never. */
  releasedAt(): number {
    return this.#releasedAt;
  }

  /** When the next probe or retry is due, in milliseconds. Null if there is none. */
  nextDueAt(now: number): number | null {
    const { pausedUntil } = this.#health;
    if (now < pausedUntil) return pausedUntil;
    const dueAt = Math.min(...this.#tracks.map((track) => track.nextDueAt() ?? Infinity));
    return dueAt === Infinity ? null : dueAt;
  }

  #begin(turn: Turn, replay: string | null, probe: boolean, now: number): Work {
    this.#limiter.started(turn.filingId, now);
    return { ...turn, replay, probe, startedAt: now, round: this.#round };
  }

  // Whether another event may be sent at all, whatever it is.
  #isOpen(now: number): boolean {
    const isProbing = isDown(this.#health) && this.#limiter.inFlight() > 0;
    return !this.isPaused(now) && !isProbing && this.#limiter.isFree(now);
  }

  #startTurn(kind: Kind, due: number): Turn | null {
    if (kind === 'first') return this.live.startFirst();
    if (kind === 'retry') return this.live.startRetry(due);
    const replay = this.#openReplay();
    return replay?.startFirst() ?? replay?.startRetry(due) ?? null;
  }

  // The replay if another event of it may be sent: half of the places are kept for events that may still
  // come from the log.
  #openReplay(): Track | null {
    const hasPlace = this.#replaysInFlight < Math.max(1, this.#limiter.limit() >> 1);
    return hasPlace ? (this.#tracks[1] ?? null) : null;
  }

  // Undefined if its replay has ended.
  #trackOf({ replay }: Work): Track | undefined {
    return this.#tracks.find((track) => track.replay === replay);
  }

  #retryAllNow(now: number): void {
    this.#releasedAt = now;
    for (const { lanes } of this.#tracks) lanes.retryNow(now);
  }

  // Filings that failed repeatedly with no success between them need not wait much longer once there is a
  // success. Filings that are due as soon as a probe would be keep their schedule, because they may fail by
  // themselves.
  #retryDoubted(filings: readonly string[], now: number): void {
    for (const filingId of filings)
      for (const { lanes } of this.#tracks) {
        const lane = lanes.get(filingId);
        // It failed more than once: the endpoint may be at fault.
        const isDoubted = lane !== undefined && lane.tried > 1;
        if (isDoubted && lane.dueAt > now + probeDelayMsMax) lanes.retryOneNow(filingId, now);
      }
  }
}

// The order in which kinds of events are tried at a start. At intervals a later kind comes first, so that
// none waits for ever. Probes alternate between kinds: if all of them were the same poison event, a recovered
// endpoint would never be found.
function turnOrder(start: number, probe: boolean): readonly Kind[] {
  if (start % replaysEvery === 0 && !probe) return ['replay', 'first', 'retry'];
  return start % (probe ? 2 : retriesEvery) === 0
    ? ['retry', 'first', 'replay']
    : ['first', 'retry', 'replay'];
}
