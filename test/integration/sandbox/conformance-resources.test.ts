import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AccountBody } from '../../../src/sandbox/accounts.ts';
import type { FilingState } from '../../../src/sandbox/filings/filing-states.ts';
import type { Quote } from '../../../src/sandbox/filings/pricing.ts';
import type { RateConfiguration } from '../../../src/sandbox/filings/state-table.ts';
import { secondKey, startSandbox } from './sandbox-client.ts';
import type { TestSandbox } from './sandbox-client.ts';

let sandbox: TestSandbox;
let states: readonly FilingState[];

beforeAll(async () => {
  sandbox = await startSandbox();
  states = (await sandbox.call<FilingState[]>('GET', '/filing-states')).body;
});
afterAll(async () => sandbox[Symbol.asyncDispose]());

describe('Account', () => {
  it('GET /partner/me returns names, e-mail address and the enabled states', async () => {
    const { status, body } = await sandbox.call<AccountBody>('GET', '/me');
    expect(status).toBe(200);
    expect(body).toEqual({
      firstName: expect.any(String),
      lastName: expect.any(String),
      email: expect.stringContaining('@'),
      enabledStates: ['CA', 'FL', 'KY', 'NY', 'TX'],
    });
  });

  it('firstName and lastName may be null', async () => {
    const { body } = await sandbox.call<AccountBody>('GET', '/me', { key: secondKey });
    expect(body).toMatchObject({ firstName: null, lastName: null });
  });
});

describe('Filing states', () => {
  it('without a query every state that the account can file in is returned, as an array', () => {
    expect(states.map(({ stateAbbr }) => stateAbbr)).toEqual(['CA', 'FL', 'KY', 'NY', 'TX']);
  });

  it('the state query returns that state alone', async () => {
    const { body } = await sandbox.call<FilingState[]>('GET', '/filing-states?state=NY');
    expect(body.map(({ name }) => name)).toEqual(['New York']);
  });

  it('a state that is not enabled is refused, an unknown one is not found', async () => {
    expect(await sandbox.call('GET', '/filing-states?state=OR')).toMatchObject({
      status: 403,
      body: { code: 'STATE_NOT_ENABLED' },
    });
    expect(await sandbox.call('GET', '/filing-states?state=ZZ')).toMatchObject({
      status: 404,
      body: { code: 'UNKNOWN_STATE' },
    });
  });

  it('id has UUID format and differs from state to state', () => {
    const ids = states.map(({ id }) => id);
    expect(new Set(ids).size).toBe(states.length);
    for (const id of ids)
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  it('descriptions are HTML with an ordered list, one for new business and one for endorsements', () => {
    for (const { descriptionNb, descriptionEd } of states) {
      expect(descriptionNb).toMatch(/<ol><li>.*<\/li><\/ol>/);
      expect(descriptionEd).toMatch(/<ol><li>.*<\/li><\/ol>/);
      expect(descriptionNb).not.toBe(descriptionEd);
    }
  });

  it('each state has exactly one Nb pair and one Ed pair', () => {
    const fields = ['id', 'name', 'stateAbbr', 'descriptionNb', 'descriptionEd', 'filesNb', 'filesEd'];
    for (const state of states) {
      expect(Object.keys(state)).toEqual([...fields, 'nbStateRates', 'edStateRates']);
    }
  });

  it('a required-document entry describes what to upload and is no downloadable file', () => {
    for (const entry of states.flatMap(({ filesNb, filesEd }) => [...filesNb, ...filesEd])) {
      expect(entry).toEqual({
        id: expect.any(String),
        name: expect.any(String),
        createdAt: expect.any(String),
        updatedAt: expect.any(String),
        fileName: null,
        filePath: null,
      });
    }
  });

  it('document lists differ between states and between the pairs of a state', () => {
    const lists = states.map(({ filesNb }) => filesNb.map(({ name }) => name).join());
    expect(new Set(lists).size).toBe(states.length);
    for (const { filesNb, filesEd } of states) expect(filesNb).not.toEqual(filesEd);
  });
});

describe('Rate configuration', () => {
  it('each fee has a mode and a value, and the four booleans are there', () => {
    for (const rates of states.flatMap(({ nbStateRates, edStateRates }) => [nbStateRates, edStateRates])) {
      const { carriersFee, carriersTaxable, policyFee, policyTaxable, ...fees } = rates;
      for (const flag of [carriersFee, carriersTaxable, policyFee, policyTaxable])
        expect(flag).toBeTypeOf('boolean');
      for (const fee of Object.values(fees)) {
        expect(fee).toEqual({ mode: expect.any(String), value: expect.any(Number) });
      }
    }
  });

  it('all three named modes are in use', () => {
    const modes = states.flatMap(({ nbStateRates }) => [
      nbStateRates.surplusLinesTax.mode,
      nbStateRates.filingFee.mode,
    ]);
    expect(new Set(modes)).toEqual(new Set(['PERCENTAGE_WITH_FEES', 'PERCENTAGE_WITH_FEES_VIA', 'MANUAL']));
  });

  it('GET /partner/get-state-rates/{state}/new-business and /endorsement return the raw configurations', async () => {
    const florida = await sandbox.state('FL');
    const nb = await sandbox.call<RateConfiguration>('GET', '/get-state-rates/FL/new-business');
    const ed = await sandbox.call<RateConfiguration>('GET', '/get-state-rates/FL/endorsement');
    expect(nb.body).toEqual(florida.nbStateRates);
    expect(ed.body).toEqual(florida.edStateRates);
    expect(nb.body).not.toEqual(ed.body);
  });

  it.each([
    ['/get-state-rates/FL/renewal', 400, 'INVALID_REQUEST'],
    ['/get-state-rates/ZZ/endorsement', 404, 'UNKNOWN_STATE'],
    ['/get-state-rates/OR/endorsement', 403, 'STATE_NOT_ENABLED'],
  ])('GET %s answers %i', async (path, status, code) => {
    expect(await sandbox.call('GET', path)).toMatchObject({ status, body: { code } });
  });
});

const quoteBody = (fields: Record<string, unknown>) => ({
  body: { filingType: 'NEW_BUSINESS', stateAbbr: 'TX', premium: 1000, ...fields },
});
const price = async (fields: Record<string, unknown>) =>
  sandbox.call<Quote>('POST', '/calculate', quoteBody(fields));

describe('Quote', () => {
  it('carries a numeric total, the filing fee and the tax', async () => {
    const { status, body } = await price({});
    expect(status).toBe(200);
    expect(body).toMatchObject({ total: 78.9, filingFee: 30, tax: 48.5, fees: 0.4 });
  });

  it('is a calculation from premium and filing type that applies the rates of the state', async () => {
    const texas = (await price({})).body.total;
    expect((await price({ premium: 2000 })).body.total).not.toBe(texas);
    expect((await price({ stateAbbr: 'FL' })).body.total).not.toBe(texas);
    const florida = await price({ stateAbbr: 'FL', filingType: 'ENDORSEMENT_ADDITIONAL' });
    expect(florida.body.filingFee).toBe(15);
  });

  it('NEW_BUSINESS_RENEWAL is priced as NEW_BUSINESS', async () => {
    const renewal = await price({ filingType: 'NEW_BUSINESS_RENEWAL' });
    expect(renewal.body.breakdown).toEqual((await price({})).body.breakdown);
  });

  it.each([
    ['filingType', { filingType: 'RENEWAL' }],
    ['filingType', { filingType: undefined }],
    ['stateAbbr', { stateAbbr: 7 }],
    ['stateAbbr', { stateAbbr: undefined }],
    ['premium', { premium: '1000' }],
    ['premium', { premium: -1 }],
    ['premium', { premium: 1e10 }],
    ['premium', { premium: undefined }],
    ['policyFee', { policyFee: -5 }],
    ['lgtValue', { lgtValue: '7' }],
    ['premium', { premium: null }],
  ])('a wrong %s is refused: %o', async (field, wrong) => {
    const answer = await sandbox.call('POST', '/calculate', quoteBody(wrong));
    expect(answer.status).toBe(422);
    expect(answer.body.details?.map((problem) => problem.field)).toEqual([field]);
  });

  it('null in a field that may be left out is as good as leaving it out', async () => {
    const nulls = { policyFee: null, inspectionFee: null, carriersFee: null, lgtValue: null, fmtValue: null };
    expect((await price(nulls)).body).toEqual((await price({})).body);
  });

  it.each([
    ['both fees charged and taxed', 'TX', 'NEW_BUSINESS', 1120, 100, 20],
    ['both charged and not taxed', 'NY', 'NEW_BUSINESS', 1000, 100, 20],
    ['the policy fee neither charged nor taxable', 'FL', 'ENDORSEMENT_ADDITIONAL', 1100, 100, 0],
    ['both taxable and not charged', 'KY', 'ENDORSEMENT_ADDITIONAL', 1000, 0, 0],
  ])('flat fees are charged and taxed as the booleans say: %s', async (...row) => {
    const [, stateAbbr, filingType, base, carriersFee, policyFee] = row;
    const { body } = await price({ stateAbbr, filingType, carriersFee: 100, policyFee: 20 });
    const lineOf = (name: string) => body.breakdown.find((line) => line.name === name);
    expect(lineOf('stampingFee')?.base).toBe(base);
    expect([lineOf('carriersFee')?.amount, lineOf('policyFee')?.amount]).toEqual([carriersFee, policyFee]);
  });

  it('a state that is not enabled is refused', async () => {
    expect(await price({ stateAbbr: 'OR' })).toMatchObject({
      status: 403,
      body: { code: 'STATE_NOT_ENABLED' },
    });
  });
});
