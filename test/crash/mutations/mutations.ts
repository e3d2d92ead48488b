/** A bug that a change could bring in, and the test that notices it. */
export interface Mutation {
  readonly name: string;
  readonly file: string;
  /** Stands once in the file. */
  readonly find: string;
  readonly replace: string;
  /** The file of the test, and the beginning of its title within its groups. */
  readonly test: string;
  readonly title: string;
}

/** The command that notices it, for it runs the test. */
export function commandOf({ test }: Pick<Mutation, 'test'>): 'npm test' | 'npm run test:long' {
  return test.endsWith('.long.test.ts') ? 'npm run test:long' : 'npm test';
}

/** Bugs that lose, invent, repeat or reorder something, one for each of the guards that keep the promise. */
export const mutations: readonly Mutation[] = [
  {
    name: 'the state is written without its event',
    file: 'src/filings/snapshot-store.ts',
    find: '...commits.flatMap((commit) => commitArguments(commit, at)),',
    replace: '...commits.flatMap((commit) => commitArguments({ ...commit, event: null }, at)),',
    test: 'test/integration/filings/commit.test.ts',
    title: '',
  },
  {
    name: 'a state is written whatever was written meanwhile',
    file: 'src/filings/commit-changes.lua',
    find: "if (redis.call('HGET', filings, id) or '') ~= expected then",
    replace: 'if expected == nil then',
    test: 'test/integration/filings/commit.test.ts',
    title: '',
  },
  {
    name: 'what was decided on a former snapshot is written to the new one',
    file: 'src/filings/commit-changes.lua',
    find: "if redis.call('HGET', polling, 'generation') ~= ARGV[1] then return nil end",
    replace: '',
    test: 'test/integration/filings/commit.test.ts',
    title: '',
  },
  {
    name: 'ids are random',
    file: 'src/events/event.ts',
    find: 'update(JSON.stringify(parts))',
    replace: 'update(JSON.stringify([...parts, Math.random()]))',
    test: 'test/unit/events/event.test.ts',
    title: '',
  },
  {
    name: 'the cursor moves before the acknowledgement',
    file: 'src/delivery/schedule/track.ts',
    find: 'return first === null ? null : { ...first, attempt: 1 };',
    replace:
      'if (first !== null) progress.markDone(first.position);\n      return first === null ? null : { ...first, attempt: 1 };',
    test: 'test/integration/delivery/drain/fence.test.ts',
    title: 'what is in flight counts as not delivered',
  },
  {
    name: 'reads are taken in the order of their arrival, whatever their windows',
    file: 'src/filings/detection/detect-change.ts',
    find: 'if (compared === undefined) return start <= readAt;',
    replace: 'if (compared === undefined) return start < 0;',
    test: 'test/unit/filings/detection/detect-change.test.ts',
    title: '',
  },
  {
    name: 'a callback whose answer is lost counts as delivered',
    file: 'src/callbacks/outcome.ts',
    find: '    const { code, sent, detail } = result;\n',
    replace:
      "    const { code, sent, detail } = result;\n    if (code === 'connection_reset') return { kind: 'delivered', code: 'delivered' };\n",
    test: 'test/unit/callbacks/outcome.test.ts',
    title: '',
  },
  {
    name: 'a command whose reply is lost is sent again',
    file: 'src/redis/connection/open-client.ts',
    find: 'maxRetriesPerRequest: 0, autoResendUnfulfilledCommands: false',
    replace: 'maxRetriesPerRequest: 20, autoResendUnfulfilledCommands: true',
    test: 'test/integration/redis/connection/connect.test.ts',
    title: 'a command whose reply is lost',
  },
  {
    name: 'a connection that falls silent is kept',
    file: 'src/redis/connection/open-client.ts',
    find: 'socketTimeout: silenceMs, ',
    replace: '',
    test: 'test/integration/redis/jobs/job-worker.long.test.ts',
    title: '',
  },
  {
    name: 'absence from a list is taken as removal',
    file: 'src/polling/reads/filing-reader.ts',
    find: 'if (filing === null) await takeAbsence(id, window);',
    replace:
      "if (filing === null || filing.status !== 'COMPLETED') await deps.observe([{ id, filing: null }], window);",
    test: 'test/integration/polling/hostile-lists.test.ts',
    title: '',
  },
  {
    name: 'one 404 is taken as removal',
    file: 'src/polling/beliefs/missed-reads.ts',
    find: 'return before?.gone === true && before.since < pollStartedAt;',
    replace: 'return before === undefined || pollStartedAt > 0;',
    test: 'test/integration/polling/detection.test.ts',
    title: 'removes what answers 404 on two polls',
  },
  {
    name: 'a drain that another one has overtaken goes on writing',
    file: 'src/delivery/store/settle.lua',
    find: 'if state[1] ~= ARGV[2] or state[4] ~= ARGV[3] then return { 0 } end',
    replace: 'if not state[1] then return { 0 } end',
    test: 'test/integration/delivery/drain/fence.test.ts',
    title: 'a drain that another one has overtaken',
  },
  {
    name: 'a drain goes on with what a Redis that was set back does not know',
    file: 'src/delivery/store/settle.lua',
    find: 'if head_now ~= ARGV[8] and not is_same_log(',
    replace: 'if false and not is_same_log(',
    test: 'test/integration/delivery/drain/set-back.test.ts',
    title: 'Redis is set back under a drain',
  },
  {
    name: 'a settle of a drain that was lost is not missed',
    file: 'src/delivery/store/settle.lua',
    find: ' or state[4] ~= ARGV[3]',
    replace: '',
    test: 'test/integration/delivery/drain/set-back.test.ts',
    title: 'Redis is set back under a drain',
  },
  {
    name: 'a cursor beyond the head stays there',
    file: 'src/delivery/store/claim.lua',
    find: 'if common < cursor then',
    replace: 'if false then',
    test: 'test/integration/delivery/drain/set-back.test.ts',
    title: 'a cursor that is not of the log',
  },
  {
    name: 'what is recorded after a change of the settings is judged by the former ones',
    file: 'src/delivery/drain/drain-session.ts',
    find: 'const stop = feed.isKnown(read) ? null : await write(null, now());',
    replace: 'const stop: Stop | null = null;',
    test: 'test/integration/delivery/drain/set-back.test.ts',
    title: 'an event that is recorded after a change of the filters',
  },
  {
    name: 'commits go onto a log that Redis has set back',
    file: 'src/filings/commit-changes.lua',
    find: 'if not is_same_log(',
    replace: 'if false and not is_same_log(',
    test: 'test/integration/polling/set-back.test.ts',
    title: 'a poll that is under way when Redis is set back',
  },
  {
    name: 'what Redis has lost is not made up for',
    file: 'src/polling/poll.ts',
    find: 'await deps.snapshot.catchUp(',
    replace: 'void (',
    test: 'test/integration/polling/set-back.test.ts',
    title: 'Redis is set back, noticed',
  },
  {
    name: 'later events of a filing do not wait behind a failed one',
    file: 'src/delivery/schedule/track.ts',
    find: 'const lane = wanted ? lanes.get(filingId) : undefined;',
    replace: 'const lane = wanted ? lanes.get(`${filingId}?`) : undefined;',
    test: 'test/unit/delivery/schedule/scheduler.test.ts',
    title: '',
  },
  {
    name: 'a removal that lingers takes the keys of the account created meanwhile',
    file: 'src/accounts/incarnation.lua',
    find: "if (redis.call('GET', KEYS[1]) or '') ~= ARGV[1] then return 0 end",
    replace: "if ARGV[1] ~= ARGV[2] and (redis.call('GET', KEYS[1]) or '') ~= ARGV[1] then return 0 end",
    test: 'test/integration/accounts/incarnations.test.ts',
    title: 'a removal that lingers',
  },
  {
    name: 'nobody is woken while a long poll goes on',
    file: 'src/polling/upkeep.ts',
    find: 'if (over.aborted) return;',
    replace: 'return;',
    test: 'test/integration/polling/long-polls.test.ts',
    title: '',
  },
  {
    name: 'nobody wakes who was not woken before a crash',
    file: 'src/delivery/wake.ts',
    find: 'return unread || state.release || due',
    replace: 'return false && (unread || state.release || due)',
    test: 'test/integration/delivery/drain-worker.test.ts',
    title: '',
  },
  {
    name: 'an outage uses the retries of what it keeps waiting',
    file: 'src/delivery/schedule/scheduler.ts',
    find: 'const blameless = wasDown || isDown(health) ||',
    replace: 'const blameless =',
    test: 'test/integration/delivery/drain/outage.test.ts',
    title: 'that fails is probed ever less often',
  },
  {
    name: 'a subscription that fell behind looks as if it missed nothing',
    file: 'src/subscriptions/lag.ts',
    find: 'return expired + unread',
    replace: 'return unread',
    test: 'test/integration/delivery/drain/retention.test.ts',
    title: 'count in the lag until they are told',
  },
  {
    name: 'callbacks are signed with the newest secret alone',
    file: 'src/callbacks/send-callback.ts',
    find: 'sign(keysAt(now()), ',
    replace: 'sign(keysAt(now()).slice(0, 1), ',
    test: 'test/integration/callbacks/receiver-libraries.test.ts',
    title: 'rejected as standard, full',
  },
  {
    name: 'an emptied store is begun anew',
    file: 'src/redis/durability/store-watch.ts',
    find: "lost = finished((await redis.get(keys.store)) ?? '') !== id;",
    replace: "lost = finished((await redis.get(keys.store)) ?? '') === null;",
    test: 'test/integration/redis/durability/store-watch.test.ts',
    title: 'that is missing or',
  },
  {
    name: 'a store of another format is used',
    file: 'src/redis/durability/store-watch.ts',
    find: 'if (format !== 1 && format !== storeFormat) throw',
    replace: 'if (format < 0) throw',
    test: 'test/integration/redis/durability/store-watch.test.ts',
    title: 'is refused and left as it is',
  },
  {
    name: 'a broken chain of polls stays broken',
    file: 'src/polling/schedule/poll-queue.ts',
    find: 'await polls.schedule(account, pollIntervalMs);',
    replace: 'await polls.isScheduled(`${account}${pollIntervalMs}`);',
    test: 'test/integration/polling/poll-worker.test.ts',
    title: 'polls an account again whose last poll',
  },
  {
    name: 'readiness does not try to write',
    file: 'src/monitoring/readiness.ts',
    find: 'if (!isReplica) await',
    replace: 'if (isReplica && reasons.length < 0) await',
    test: 'test/integration/monitoring/readiness.test.ts',
    title: '',
  },
];
