import type { AttemptReport } from '../delivery/drain/settlement.ts';
import type { RecordedEvent } from '../filings/observe-filings.ts';
import type { PollReport } from '../polling/pollers.ts';

/** Where traces go, and how many. */
export interface TracingSettings {
  /** Takes OTLP over HTTP, in JSON; the path included. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly serviceName: string;
  /** The share of traces that is sent, 0 to 1. All spans of a trace are, or none: what decides is its id. */
  readonly ratio: number;
}

/**
 * Tells where time went, from the poll that saw a change to each attempt to deliver it. Nothing of it is
 * stored: the trace of an event follows from the event's id, so that any process finds it again, whatever
 * crashed in between. Never throws and never waits for whoever collects the traces.
 */
export interface Tracing {
  /** Runs a poll of an account; one that read nothing leaves no trace. */
  poll<T>(account: string, run: () => Promise<T>): Promise<T>;
  /** Events that the account's poll has put into the log just now. */
  eventsRecorded(account: string, events: readonly RecordedEvent[]): void;
  /** What came of the poll under way. */
  pollReported(report: PollReport): void;
  /** Runs one drain of a subscription. */
  drain<T>(account: string, subscription: string, run: () => Promise<T>): Promise<T>;
  /** An attempt that the drain under way has settled. */
  attemptReported(report: AttemptReport): void;
  /** Sends what is left; nothing is traced afterwards. */
  close(): Promise<void>;
}

/** What stands in where no tracing is configured. */
export const noTracing: Tracing = {
  poll: (_account, run) => run(),
  eventsRecorded() {},
  pollReported() {},
  drain: (_account, _subscription, run) => run(),
  attemptReported() {},
  close: async () => {},
};
