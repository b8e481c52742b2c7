import { expect, test } from 'vitest'
import { budgetProblems, type Manifest } from './dashboard-budgets.ts'

const MANIFEST: Manifest = {
  'index.html': { file: 'index.js', css: ['index.css'], dynamicImports: ['src/screens/overview/overview-screen.tsx'] },
  'src/screens/overview/overview-screen.tsx': { file: 'overview.js', imports: ['index.html'] },
  '_xterm.js': { file: 'xterm.js' },
  'src/screens/sandbox/terminal/terminal-tab.tsx': { file: 'terminal.js', imports: ['index.html', '_xterm.js'] },
  'src/screens/sandbox/files/files-tab.tsx': { file: 'files.js', imports: ['index.html'] },
}

test('a build within its budgets has no problems', () => {
  expect(budgetProblems(MANIFEST, () => 9000)).toEqual([])
})

test('the first screen counts the page, its styles and the overview', () => {
  expect(budgetProblems(MANIFEST, (file) => (file === 'terminal.js' || file === 'files.js' ? 1 : 10_001))).toEqual([
    'the first screen: 30003 bytes as gzip, the budget is 30000',
  ])
})

test('a lazy tab counts the libraries that it loads, without the first screen', () => {
  expect(budgetProblems(MANIFEST, (file) => (file === 'xterm.js' ? 100_000 : 1))).toEqual([
    'the terminal: 100001 bytes as gzip, the budget is 100000',
  ])
})

test('a budget whose source is absent is a problem', () => {
  const { 'src/screens/sandbox/files/files-tab.tsx': _, ...others } = MANIFEST
  expect(budgetProblems(others, () => 1)).toEqual([expect.stringContaining('the files: the build has no chunk')])
})
