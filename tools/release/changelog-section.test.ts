import { expect, it } from 'vitest'
import { changelogSection } from './changelog-section.ts'

const CHANGELOG =
  '# Changes\n\n## 0.10.0 (unreleased)\n\n- ten\n\n## 0.1.0 (2026-11-22)\n\n- one\n\n### More\n\n- two\n\n## 0.0.1\n\n- first\n'

it('returns one version with its heading', () => {
  expect(changelogSection(CHANGELOG, '0.1.0')).toBe('## 0.1.0 (2026-11-22)\n\n- one\n\n### More\n\n- two\n')
  expect(changelogSection(CHANGELOG, '0.10.0')).toBe('## 0.10.0 (unreleased)\n\n- ten\n')
  expect(changelogSection(CHANGELOG, '0.0.1')).toBe('## 0.0.1\n\n- first\n')
  expect(changelogSection(CHANGELOG, '0.2.0')).toBeUndefined()
})
