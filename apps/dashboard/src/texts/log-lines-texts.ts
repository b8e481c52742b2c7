/** The texts of parts/log-lines. */
export const logLinesTexts = {
  level: 'Level',
  levels: { debug: 'All levels', info: 'Info and above', warn: 'Warnings and errors', error: 'Errors' },
  search: 'Search in the lines',
  noMatch: 'no match',
  matches: (current: number, all: number) => `${current} of ${all}`,
  former: 'Former match',
  next: 'Next match',
  follow: 'Follow',
  wrap: 'Wrap',
  download: 'Download',
  fresh: (count: number) => `${count} new ↓`,
  older: 'Load older lines',
  shown: (count: number) => `${count.toLocaleString('en')} lines`,
}
