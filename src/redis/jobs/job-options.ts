/**
 * Options of every job in BullMQ: nothing of it is left once it is over, and no stack trace is kept while it
 * is tried again. BullMQ keeps all of them by default and writes them anew with each attempt.
 */
export const leavesNothing = { removeOnComplete: true, removeOnFail: true, stackTraceLimit: 0 } as const;
