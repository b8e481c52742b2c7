import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { findBrokenLinks } from './doc-links.ts'

function pagesOf(files: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(join(tmpdir(), 'doc-links-'))
  onTestFinished(() => rmSync(root, { recursive: true }))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(root, name), text)
  return root
}

it('finds links to absent and empty files and to absent headings, and no others', () => {
  const root = pagesOf({
    'a.md': [
      '# A',
      '## Two `words`, one',
      '## Same',
      '## Same',
      '[x](#two-words-one) [y](b.md#b) [z](#same-1) [w](https://e2b.dev/#none)',
    ].join('\n'),
    'b.md': '# B\n[empty](c.md) [absent](d.md) [heading](a.md#none)\n```\n[in code](e.md)\n```\n',
    'c.md': '\n',
  })
  expect(findBrokenLinks(root, ['a.md', 'b.md'])).toEqual([
    'b.md: c.md is empty',
    'b.md: d.md is not there',
    'b.md: a.md#none has no such heading',
  ])
})
