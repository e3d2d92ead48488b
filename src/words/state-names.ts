import { quoted } from './near-name.ts';

/** The states of the United States, the District of Columbia and the territories, by abbreviation (USPS). */
const stateNames = `
  AL Alabama, AK Alaska, AZ Arizona, AR Arkansas, CA California, CO Colorado, CT Connecticut, DE Delaware,
  DC District of Columbia, FL Florida, GA Georgia, GU Guam, HI Hawaii, ID Idaho, IL Illinois, IN Indiana,
  IA Iowa, KS Kansas, KY Kentucky, LA Louisiana, ME Maine, MD Maryland, MA Massachusetts, MI Michigan,
  MN Minnesota, MS Mississippi, MO Missouri, MT Montana, NE Nebraska, NV Nevada, NH New Hampshire,
  NJ New Jersey, NM New Mexico, NY New York, NC North Carolina, ND North Dakota, OH Ohio, OK Oklahoma,
  OR Oregon, PA Pennsylvania, PR Puerto Rico, RI Rhode Island, SC South Carolina, SD South Dakota,
  TN Tennessee, TX Texas, UT Utah, VT Vermont, VA Virginia, VI Virgin Islands, WA Washington,
  WV West Virginia, WI Wisconsin, WY Wyoming
`;

const abbreviations: ReadonlyMap<string, string> = new Map(
  stateNames.split(',').map((state) => [plainly(state.trim().slice(3)), state.trim().slice(0, 2)]),
);

/** The abbreviation of a state that is written out, in any case, with spaces or dashes; null for others. */
export function abbreviationOf(name: string): string | null {
  return name.length > 40 ? null : (abbreviations.get(plainly(name)) ?? null);
}

/** The message about a text that is no abbreviation of a state. */
export function unknownState(text: string): string {
  const abbreviation = abbreviationOf(text);
  const hint = abbreviation === null ? ', e.g. TX' : `; did you mean ${abbreviation}?`;
  return `${quoted(text)} is no abbreviation of a state${hint}`;
}

function plainly(name: string): string {
  return name.toLowerCase().replaceAll(/[ -]/g, '');
}
