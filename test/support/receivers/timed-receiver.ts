import { startReceiver, type Answer, type Receiver, type Script } from './receiver.ts';

/** A receiver that knows when each callback arrived, in monotonic milliseconds. */
export interface TimedReceiver extends Receiver {
  readonly times: readonly number[];
}

/** Starts one on a free loopback port; it answers 200 at once unless told otherwise. */
export async function timedReceiver(answer: Script | Answer = 200): Promise<TimedReceiver> {
  const times: number[] = [];
  const script = typeof answer === 'function' ? answer : () => answer;
  const receiver = await startReceiver((callback) => {
    times.push(performance.now());
    return script(callback);
  });
  return Object.assign(receiver, { times });
}

/** The most that arrived within a second, wherever it begins. */
export function mostPerSecond(times: readonly number[], lengthMs = 1_000): number {
  let [most, from] = [0, 0];
  for (const [i, at] of times.entries()) {
    while (at - (times[from] ?? at) >= lengthMs) from += 1;
    most = Math.max(most, i - from + 1);
  }
  return most;
}
