import type { AttemptReport } from '../delivery/settlement.ts';
import type { RecordedEvent } from '../filings/observe-filings.ts';
import type { PollReport } from '../polling/poll-reports.ts';

/** How traces are sent. */
export interface TracingSettings {
  /** OpenTelemetry's variables, from which its libraries take the collector and the resource. */
  readonly environment: Readonly<Record<string, string>>;
  /** The share of traces that is sent, 0 to 1. The trace's id decides for all its spans. */
  readonly ratio: number;
  /** Whether callbacks carry the context of their trace. */
  readonly propagates: boolean;
}

/**
 * Traces a change from the poll that detected it to each attempt to deliver it. Nothing is stored: the
 * trace's id derives from the event's id, so any process continues the trace after a crash. Never throws and
 * never waits for the collector.
 */
export interface Tracing {
  /** Runs a poll of an account; one that read nothing leaves no trace. */
  poll<T>(account: string, run: () => Promise<T>): Promise<T>;
  /** The account's poll has just appended these events to the log. */
  eventsRecorded(account: string, events: readonly RecordedEvent[]): void;
  /** The poll in progress has ended with this report. */
  pollReported(report: PollReport): void;
  /** One run of an account's deliverer. */
  run<T>(account: string, run: () => Promise<T>): Promise<T>;
  /**
   * The `traceparent` of one attempt to deliver an event (W3C Trace Context): the event's trace and the id of
   * the attempt's span. Null if callbacks carry none.
   */
  traceparent(eventId: string): string | null;
  /** The run in progress has settled this attempt. */
  attemptReported(report: AttemptReport): void;
  /** Sends the remaining spans; nothing is traced afterwards. */
  close(): Promise<void>;
}

/** Used if no tracing is configured; does nothing. */
export const noTracing: Tracing = {
  poll: (_account, run) => run(),
  eventsRecorded() {},
  pollReported() {},
  run: (_account, run) => run(),
  traceparent: () => null,
  attemptReported() {},
  close: async () => {},
};
