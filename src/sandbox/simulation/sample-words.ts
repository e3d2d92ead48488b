/** Words that sample filings are made of. All companies are invented. */
export const insuredFirstWords = [
  'Bluebonnet',
  'Harbor Point',
  'Red Canyon',
  'Silver Creek',
  'Juniper',
  'Lakeshore',
  'Pelican Bay',
  'Granite State',
  'Sunny Slope',
  'O’Malley & Sons',
  'Nuñez',
  'Twin Pines',
  'Old Mill',
  'Cascade',
  'Prairie Wind',
  'Copper Ridge',
] as const;

export const insuredSecondWords = [
  'Roofing',
  'Logistics',
  'Marine Services',
  'Apartments',
  'Brewing',
  'Scaffolding',
  'Day Care',
  'Hotel',
  'Cold Storage',
  'Fireworks',
  'Demolition',
  'Trucking',
  'Orchards',
  'Urgent Care',
] as const;

export const companyForms = ['LLC', 'Inc.', 'LP', 'Corp.', 'Partners'] as const;

export const carriers = [
  'Northgate Specialty Insurance Company',
  'Meridian Excess & Surplus Ltd.',
  'Ironbark Indemnity',
  'Tidewater Surety and Casualty',
  'Atlas Lantern Insurance SE',
  'Quarry Hill Underwriters',
] as const;

export const rejectionReasons = [
  'Affidavit is not signed',
  'Premium on the declarations page differs from the premium filed',
  'Declarations page is missing the policy period',
  'Carrier is not on the eligible surplus lines insurer list on the effective date',
  'Diligent effort form names fewer than three declining carriers',
  'Insured’s address is outside the state',
  'Duplicate of a filing already reported under this policy number',
  'Uploaded document is unreadable; scan it again',
] as const;
