import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

const script = fileURLToPath(new URL('../../../.ci/audit', import.meta.url));
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'filing-webhooks-audit-'));
});

afterEach(() => rmSync(folder, { recursive: true }));

/** What `.ci/audit` says, and its exit code, when npm reports this. */
function audit(holes: unknown, signatures: unknown): string[] {
  const path = join(folder, 'npm');
  writeFileSync(
    path,
    `#!/bin/sh\ncase "$*" in *signatures*) echo '${JSON.stringify(signatures)}' ;; *) echo '${JSON.stringify(holes)}' ;; esac\nexit 1\n`,
  );
  chmodSync(path, 0o755);
  const PATH = [folder, dirname(process.execPath), process.env['PATH']].join(delimiter);
  const { stdout, status } = spawnSync(script, { encoding: 'utf8', env: { PATH } });
  const lines = stdout.trim().split('\n');
  expect(lines.pop()).toBe('fixes that the pinned Node lacks: nothing found');
  return [...lines, String(status)];
}

const found = (severity: string) => ({ metadata: {}, vulnerabilities: { a: { name: 'a', severity } } });
const noHoles = { metadata: {}, vulnerabilities: {} };
const fitting = { invalid: [], missing: [] };

describe('.ci/audit', () => {
  test('is content where nothing is known, and with holes of low severity', () => {
    const content = ['known holes: nothing found', 'signatures that do not fit: nothing found', '0'];
    expect(audit(noHoles, fitting)).toEqual(content);
    expect(audit(found('moderate'), fitting)).toEqual(content);
  });

  test.each(['high', 'critical'])('fails at a hole of %s severity', (severity) => {
    expect(audit(found(severity), fitting)).toEqual([
      'known holes: a',
      'signatures that do not fit: nothing found',
      '1',
    ]);
  });

  test('fails at a signature that does not fit', () => {
    const [, signatures, code] = audit(noHoles, { invalid: [{ name: 'b' }], missing: [] });
    expect([signatures, code]).toEqual(['signatures that do not fit: b', '1']);
  });

  test('takes a registry that cannot be asked for no verdict, and says so', () => {
    const [holes, signatures, code] = audit({ message: '405 Method Not Allowed' }, 'ETIMEDOUT');
    expect(holes).toContain('no verdict');
    expect(signatures).toContain('no verdict');
    expect(code).toBe('0');
  });
});
