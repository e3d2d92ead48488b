/**
 * Options of every job in BullMQ: a finished job is removed, and no stack trace is kept while a job is tried
 * again. By default BullMQ keeps all of them and writes them anew with each attempt.
 */
export const leavesNothing = { removeOnComplete: true, removeOnFail: true, stackTraceLimit: 0 } as const;
