/** The shortest of the last replies of Redis: the part of their time that is no delay. */
export interface ReplyTimes {
  note(ms: number): void;
  /** Milliseconds. */
  least(): number;
}

// Number of replies after which a longer way to Redis is taken for the usual one.
const repliesKept = 10;

/** Keeps the times of the last ten replies. */
export function createReplyTimes(): ReplyTimes {
  const last: number[] = [];
  return {
    note(ms) {
      last.push(ms);
      if (last.length > repliesKept) last.shift();
    },
    least: () => Math.min(...last),
  };
}
