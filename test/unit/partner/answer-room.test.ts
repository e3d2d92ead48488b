import { describe, expect, it } from 'vitest';
import { createAnswerRoom } from '../../../src/partner/answer-room.ts';

const never = new AbortController().signal;

/** Takes places, and tells who got one in which order. */
function queueAt(places: number) {
  const room = createAnswerRoom(places);
  const got: string[] = [];
  const releases: (() => void)[] = [];
  const take = (name: string, signal = never) =>
    room.take(signal).then((release) => {
      got.push(name);
      releases.push(release);
    });
  return { take, got, releases };
}
const settled = () => new Promise(setImmediate);

describe('room for answers', () => {
  it('is given until it is full, and again when a place comes back', async () => {
    const { take, got, releases } = queueAt(2);
    for (const name of ['a', 'b', 'c', 'd']) void take(name);
    await settled();
    expect(got).toEqual(['a', 'b']);
    releases[0]?.();
    releases[0]?.();
    await settled();
    expect(got).toEqual(['a', 'b', 'c']);
  });

  it('is not given to a request that was stopped, and the next gets it', async () => {
    const { take, got, releases } = queueAt(1);
    const stop = new AbortController();
    void take('a');
    const stopped = take('b', stop.signal);
    void take('c');
    await settled();
    stop.abort(new Error('over'));
    await expect(stopped).rejects.toThrow('over');
    releases[0]?.();
    await settled();
    expect(got).toEqual(['a', 'c']);
    await expect(take('d', stop.signal)).rejects.toThrow('over');
    releases[1]?.();
    await take('e');
    expect(got).toEqual(['a', 'c', 'e']);
  });
});
