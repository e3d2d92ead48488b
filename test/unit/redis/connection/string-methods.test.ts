import { setFlagsFromString } from 'node:v8';
import { runInThisContext } from 'node:vm';
import { expect, it } from 'vitest';
import { restoreStringMethods } from '../../../../src/redis/connection/string-methods.ts';

setFlagsFromString('--allow-natives-syntax');
const isQuick = runInThisContext('(object) => %HasFastProperties(object)') as (object: object) => boolean;

it('makes V8 lay out the methods of strings for quick calls again', () => {
  Reflect.construct(class extends String {}, []);
  // What uses strings in between may have V8 lay them out anew.
  const before = isQuick(String.prototype);
  restoreStringMethods();
  const after = isQuick(String.prototype);
  expect({ before, after }).toEqual({ before: false, after: true });
});
