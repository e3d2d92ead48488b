import { expect, test } from 'vitest';
import { baseUrlProblem } from '../../../src/api/accounts/settings.ts';

test.each([
  'https://partner.example.com/v1',
  'http://127.0.0.1:4010/v1',
  'HTTPS://Partner.Example.com',
  'https://[::1]:8443/a/b/v1/',
  'https://partner.example.com/a@b/v1',
])('%s may be polled', (url) => {
  expect(baseUrlProblem(url)).toBeNull();
});

test.each([
  ['', /absolute/],
  ['partner.example.com/v1', /absolute/],
  ['//partner.example.com/v1', /absolute/],
  ['https:partner.example.com', /absolute/],
  ['https:///v1', /absolute/],
  ['ftp://partner.example.com', /absolute/],
  ['file:///etc/passwd', /absolute/],
  ['javascript:alert(1)', /absolute/],
  ['https://partner.example.com/ v1', /absolute/],
  ['https://partner.example.com\\v1', /absolute/],
  ['https://part\u0000ner.example.com', /absolute/],
  ['https://user@partner.example.com/', /user or password/],
  ['https://user:pass@partner.example.com/', /user or password/],
  ['https://@partner.example.com/', /user or password/],
  ['https://partner.example.com/v1?key=1', /query or fragment/],
  ['https://partner.example.com/v1#top', /query or fragment/],
  ['https://partner.example.com/v1?', /query or fragment/],
])('%j may not: %s', (url, problem) => {
  expect(baseUrlProblem(url)).toMatch(problem);
});
