import { X509Certificate } from 'node:crypto';
import { rootCertificates } from 'node:tls';
import { expect, test } from 'vitest';
import { withdrawnAuthorities } from '../../../src/egress/withdrawn-authorities.ts';

test('each withdrawn authority has its fingerprint once, a name and a source', () => {
  for (const { name, fingerprint, source } of withdrawnAuthorities) {
    expect(fingerprint).toMatch(/^[0-9a-f]{64}$/);
    expect(name).not.toBe('');
    expect(new URL(source).protocol).toBe('https:');
  }
  const fingerprints = new Set(withdrawnAuthorities.map(({ fingerprint }) => fingerprint));
  expect(fingerprints.size).toBe(withdrawnAuthorities.length);
});

test('the pinned Node brings none of them', () => {
  const names = rootCertificates.map((each) => new X509Certificate(each).subject);
  expect(names.length).toBeGreaterThan(100);
  for (const { name } of withdrawnAuthorities)
    expect(names.filter((subject) => subject.includes(`CN=${name}`))).toEqual([]);
});
