/** A bug as somebody might write it, and the test that notices. */
export interface Mutation {
  readonly name: string;
  readonly file: string;
  /** Stands once in the file. */
  readonly find: string;
  readonly replace: string;
  readonly project: 'unit' | 'integration' | 'security';
  /** The file of the test, and the beginning of its title within its groups. */
  readonly test: string;
  readonly title: string;
}

/** Bugs that lose, invent, repeat or reorder something, one for each of the guards that keep the promise. */
export const mutations: readonly Mutation[] = [
  {
    name: 'the state is written before its event, in a step of its own',
    file: 'src/filings/snapshot-store.ts',
    find: '[generation, ...commits.flatMap((commit) => commitArguments(commit, at))],\n      )) as number[] | null;',
    replace:
      '[generation, ...commits.flatMap((commit) => commitArguments({ ...commit, event: null }, at))],\n      )) as number[] | null;\n' +
      '      for (const [i, { id, event }] of commits.entries())\n' +
      '        if (event !== null && reply !== null && (reply[i] ?? -1) >= 0) {\n' +
      '          reply[i] = await redis.incr(key.head);\n' +
      "          await redis.xadd(key.events, `${reply[i]}-0`, 'id', event.id, 'type', event.type, 'filing', id, 'state', event.state, 'at', String(at), 'body', event.body);\n" +
      '        }',
    project: 'integration',
    test: 'test/integration/filings/commit.test.ts',
    title: '',
  },
  {
    name: 'a state is written whatever was written meanwhile',
    file: 'src/filings/commit-changes.lua',
    find: "if (redis.call('HGET', filings, id) or '') ~= expected then",
    replace: 'if expected == nil then',
    project: 'integration',
    test: 'test/integration/filings/commit.test.ts',
    title: '',
  },
  {
    name: 'what was decided on a former snapshot is written to the new one',
    file: 'src/filings/commit-changes.lua',
    find: "if redis.call('HGET', polling, 'generation') ~= ARGV[1] then return nil end",
    replace: '',
    project: 'integration',
    test: 'test/integration/filings/commit.test.ts',
    title: '',
  },
  {
    name: 'ids are random',
    file: 'src/events/event.ts',
    find: 'update(JSON.stringify(parts))',
    replace: 'update(JSON.stringify([...parts, Math.random()]))',
    project: 'unit',
    test: 'test/unit/events/event.test.ts',
    title: '',
  },
  {
    name: 'the cursor moves before the acknowledgement',
    file: 'src/delivery/delivery-track.ts',
    find: 'return first === null ? null : { ...first, attempt: 1 };',
    replace:
      'if (first !== null) progress.markDone(first.position);\n      return first === null ? null : { ...first, attempt: 1 };',
    project: 'integration',
    test: 'test/integration/delivery/drain-fence.test.ts',
    title: 'what is in flight counts as not delivered',
  },
  {
    name: 'reads are taken in the order of their arrival, whatever their windows',
    file: 'src/filings/detect-change.ts',
    find: 'return window.start <= previous.readAt &&',
    replace: 'return window.start < 0 && window.start <= previous.readAt &&',
    project: 'unit',
    test: 'test/unit/filings/detect-change.test.ts',
    title: '',
  },
  {
    name: 'a callback whose answer is lost counts as delivered',
    file: 'src/delivery/callback-outcome.ts',
    find: '    const { code, sent, detail } = result;\n',
    replace:
      "    const { code, sent, detail } = result;\n    if (code === 'connection_reset') return { kind: 'delivered', code: 'delivered' };\n",
    project: 'unit',
    test: 'test/unit/delivery/callback-outcome.test.ts',
    title: '',
  },
  {
    name: 'a command whose reply is lost is sent again',
    file: 'src/redis/open-client.ts',
    find: 'maxRetriesPerRequest: 0, autoResendUnfulfilledCommands: false',
    replace: 'maxRetriesPerRequest: 20, autoResendUnfulfilledCommands: true',
    project: 'integration',
    test: 'test/integration/redis/connect.test.ts',
    title: 'a command whose reply is lost',
  },
  {
    name: 'absence from a list is taken as removal',
    file: 'src/polling/filing-reader.ts',
    find: 'if (filing === null) await takeAbsence(id, window);',
    replace:
      "if (filing === null || filing.status !== 'COMPLETED') await deps.observe([{ id, filing: null }], window);",
    project: 'integration',
    test: 'test/integration/polling/hostile-lists.test.ts',
    title: '',
  },
  {
    name: 'one 404 is taken as removal',
    file: 'src/polling/misses.ts',
    find: 'return before?.gone === true && before.since < pollStartedAt;',
    replace: 'return before === undefined || pollStartedAt > 0;',
    project: 'integration',
    test: 'test/integration/polling/detection.test.ts',
    title: 'removes what answers 404 on two polls',
  },
  {
    name: 'a drain that another one has overtaken goes on writing',
    file: 'src/delivery/settle.lua',
    find: 'if state[1] ~= ARGV[2] then return { 0 } end',
    replace: 'if not state[1] then return { 0 } end',
    project: 'integration',
    test: 'test/integration/delivery/drain-fence.test.ts',
    title: 'a drain that another one has overtaken',
  },
  {
    name: 'a drain goes on with what a Redis that was set back does not know',
    file: 'src/delivery/delivery-store.ts',
    find: 'if (losses() !== lossesBefore) throw new ConnectionLostError();',
    replace: 'if (losses() < lossesBefore) throw new ConnectionLostError();',
    project: 'integration',
    test: 'test/integration/delivery/drain-fence.test.ts',
    title: 'a drain whose connection broke writes nothing',
  },
  {
    name: 'later events of a filing do not wait behind a failed one',
    file: 'src/delivery/delivery-track.ts',
    find: 'const lane = wanted ? lanes.get(filingId) : undefined;',
    replace: 'const lane = wanted ? lanes.get(`${filingId}?`) : undefined;',
    project: 'unit',
    test: 'test/unit/delivery/drain-window.test.ts',
    title: '',
  },
  {
    name: 'a removal that lingers takes the keys of the account created meanwhile',
    file: 'src/accounts/incarnation.lua',
    find: "if (redis.call('GET', KEYS[1]) or '') ~= ARGV[1] then return 0 end",
    replace: "if ARGV[1] ~= ARGV[2] and (redis.call('GET', KEYS[1]) or '') ~= ARGV[1] then return 0 end",
    project: 'integration',
    test: 'test/integration/accounts/incarnations.test.ts',
    title: 'a removal that lingers',
  },
  {
    name: 'nobody is woken while a long poll goes on',
    file: 'src/polling/upkeep.ts',
    find: 'if (over.aborted) return;',
    replace: 'return;',
    project: 'integration',
    test: 'test/integration/polling/long-polls.test.ts',
    title: '',
  },
  {
    name: 'nobody wakes who was not woken before a crash',
    file: 'src/delivery/wake-subscriptions.ts',
    find: 'return unread || state.release || due || state.replaying > 0;',
    replace: 'return false && (unread || state.release || due || state.replaying > 0);',
    project: 'integration',
    test: 'test/integration/delivery/drain-worker.test.ts',
    title: '',
  },
  {
    name: 'an outage uses the retries of what it keeps waiting',
    file: 'src/delivery/drain-window.ts',
    find: 'const blameless = wasDown || isDown(health) ||',
    replace: 'const blameless =',
    project: 'integration',
    test: 'test/integration/delivery/drain-outage.test.ts',
    title: 'that fails is probed ever less often',
  },
  {
    name: 'a subscription that fell behind looks as if it missed nothing',
    file: 'src/delivery/subscription-lags.ts',
    find: 'return expired + unread',
    replace: 'return unread',
    project: 'integration',
    test: 'test/integration/delivery/drain-retention.test.ts',
    title: 'count in the lag until they are told',
  },
  {
    name: 'callbacks are signed with the newest secret alone',
    file: 'src/delivery/send-callback.ts',
    find: 'sign(keysAt(now), ',
    replace: 'sign(keysAt(now).slice(0, 1), ',
    project: 'integration',
    test: 'test/integration/delivery/receiver-libraries.test.ts',
    title: 'rejected as standard, full',
  },
  {
    name: 'an emptied store is begun anew',
    file: 'src/redis/store-watch.ts',
    find: 'lost = (await redis.get(keys.store)) !== id;',
    replace: 'lost = (await redis.get(keys.store)) === null && id === null;',
    project: 'integration',
    test: 'test/integration/redis/store-watch.test.ts',
    title: 'that is missing or',
  },
  {
    name: 'a store of another format is used',
    file: 'src/redis/store-watch.ts',
    find: 'if (format !== storeFormat) throw',
    replace: 'if (format < 0) throw',
    project: 'integration',
    test: 'test/integration/redis/store-watch.test.ts',
    title: 'is refused and left as it is',
  },
  {
    name: 'a broken chain of polls stays broken',
    file: 'src/polling/poll-queue.ts',
    find: 'for (const { account, pollIntervalMs } of overdue) await',
    replace: 'for (const { account, pollIntervalMs } of overdue.slice(0, 0)) await',
    project: 'integration',
    test: 'test/integration/polling/poll-worker.test.ts',
    title: 'polls an account again whose last poll',
  },
  {
    name: 'readiness does not try to write',
    file: 'src/readiness.ts',
    find: 'if (!isReplica) await',
    replace: 'if (isReplica && reasons.length < 0) await',
    project: 'integration',
    test: 'test/integration/redis/readiness.test.ts',
    title: '',
  },
];
