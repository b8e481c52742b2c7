import { expect, it } from 'vitest'
import { parseLastBackup, type LastBackup } from './last-backup.ts'

it('reads what a backup has noted, and nothing else', () => {
  const last: LastBackup = { createdAt: '2026-01-01T00:00:00.000Z', file: '/b', sizeBytes: 1, hasImages: true }
  expect(parseLastBackup(JSON.stringify(last))).toEqual(last)
  for (const value of [undefined, '', 'cut {', 'null', '7', '{}']) expect(parseLastBackup(value), value).toBeUndefined()
})
