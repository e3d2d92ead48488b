import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startStage, until, type Stage } from '../../testing/stage.ts';
import { openMailbox } from './mailbox.ts';

describe('the morning report', () => {
  const stack = new AsyncDisposableStack();
  let stage: Stage;
  let folder: string;
  let token: string;

  before(async () => {
    stage = stack.use(await startStage());
    folder = await mkdtemp(join(tmpdir(), 'morning-report-'));
    stack.defer(() => rm(folder, { recursive: true }));
    const made = await stage.api.ok<{ token: string }>('POST', '/v1/accounts/default/tokens', {
      name: 'morning report',
      readOnly: true,
    });
    token = made.token;
  });

  after(() => stack.disposeAsync());

  interface Ended {
    readonly code: number | string | null | undefined;
    readonly stdout: string;
    readonly stderr: string;
  }

  function report(more: Readonly<Record<string, string>> = {}): Promise<Ended> {
    const file = fileURLToPath(new URL('../morning-report/report.ts', import.meta.url));
    const env = { API_URL: stage.url, API_TOKEN: token, STATE_FILE: join(folder, 'state.json'), ...more };
    return new Promise((resolve) => {
      execFile(process.execPath, [file], { env }, (error, stdout, stderr) =>
        resolve({ code: error?.code ?? 0, stdout, stderr }),
      );
    });
  }

  async function set(
    id: string,
    fields: { readonly status: string; readonly [name: string]: unknown },
  ): Promise<void> {
    await stage.sandbox.set(id, fields);
    await until(`${id} is ${fields.status}`, async () => {
      const { body } = await stage.api.call('GET', `/v1/accounts/default/filings/${id}`);
      return body['status'] === fields.status;
    });
  }

  // The lines below a title that begins so.
  function below(title: string, { stdout }: Ended): string[] {
    const lines = stdout.split('\n');
    const at = lines.findIndex((line) => line.startsWith(title));
    const rest = lines.slice(at + 1);
    return rest
      .slice(
        0,
        rest.findIndex((line) => !line.startsWith('  ')),
      )
      .map((line) => line.trim());
  }

  test('says what was rejected, what waits and what was completed', async () => {
    await set('f_rejected', {
      status: 'REJECTED',
      rejectionReason: 'Affidavit is "not" signed,\nform missing',
      insuredsName: 'Bluebonnet Roofing, LLC',
    });
    await set('f_completed', { status: 'COMPLETED' });
    await set('f_waiting', { status: 'PENDING' });
    const ended = await report({ WAITING_DAYS: '0' });
    assert.equal(ended.code, 0, ended.stderr);
    const [rejected = '', ...others] = below('Rejected since', ended);
    assert.match(
      rejected,
      /^f_rejected, Bluebonnet Roofing, LLC, .*: Affidavit is "not" signed, form missing, since \d/,
    );
    assert.deepEqual(others, []);
    assert.deepEqual(below('Rejected before: 0', ended), []);
    assert.match(below('In one status', ended).join(), /^f_waiting.*: PENDING since \d/);
    assert.deepEqual(below('Completed since', ended), ['f_completed']);
  });

  test('begins where the last one ended, and says who has seen a rejection', async () => {
    await set('f_rejected_later', { status: 'REJECTED' });
    await stage.api.ok('PUT', '/v1/accounts/default/filings/f_rejected/seen', {
      by: 'Dana Reyes',
      note: 'asked for it',
    });
    const ended = await report();
    assert.match(below('Rejected since', ended).join(), /^f_rejected_later, .*, since \S+$/);
    assert.match(
      below('Rejected before: 1', ended).join(),
      /^f_rejected, .*\(seen by Dana Reyes: asked for it\)$/,
    );
    assert.deepEqual(below('Completed since', ended), []);
    assert.deepEqual(below('In one status', ended), []);
  });

  test('mails it, and repeats what could not be mailed', async () => {
    await set('f_completed_later', { status: 'COMPLETED' });
    const mail = { MAIL_FROM: 'filings@agency.example', MAIL_TO: 'team@agency.example' };
    const failed = await report({ ...mail, SMTP_URL: 'smtp://127.0.0.1:1' });
    assert.equal(failed.code, 1);
    assert.match(failed.stderr, /ECONNREFUSED/);
    await using mailbox = await openMailbox();
    assert.equal((await report({ ...mail, SMTP_URL: mailbox.url })).code, 0);
    assert.equal(mailbox.mails[0]?.subject, 'Filings of default: 2 rejected');
    assert.match(mailbox.mails[0].text, /Completed since the last report: 1\r\n {2}f_completed_later/);
    assert.deepEqual(below('Completed since', await report()), []);
  });

  test('ends with the reason, and changes nothing, where the daemon refuses it', async () => {
    const refused = await report({ API_TOKEN: 'wrong' });
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /answered 401/);
  });
});
