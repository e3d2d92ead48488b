import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';

const source = new URL('../../../../src/redis/connection/open-client.ts', import.meta.url).href;

// In a process of its own: what other tests did to strings decides how V8 lays them out.
const program = `
import { restoreStringMethods } from ${JSON.stringify(source)};
const isQuick = () => %HasFastProperties(String.prototype);
Reflect.construct(class extends String {}, []);
const before = isQuick();
restoreStringMethods();
console.log(JSON.stringify({ before, after: isQuick() }));`;

it('makes V8 lay out the methods of strings for quick calls again', () => {
  const args = ['--allow-natives-syntax', '--input-type=module', '--eval', program];
  const answer = execFileSync(process.execPath, args, { encoding: 'utf8' });
  expect(JSON.parse(answer)).toEqual({ before: false, after: true });
});
