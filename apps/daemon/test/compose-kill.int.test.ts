import { expect, it } from 'vitest'
import { killDuringCompose, type Progress } from './support/compose-kill.ts'

/** `npm run long:compose-kill` does the same at hundreds of random instants. */
it.each<[string, (progress: Progress) => boolean]>([
  ['before it has begun', () => true],
  ['with an empty temporary file', ({ copied }) => copied !== undefined],
  ['with one part copied', ({ copied = 0 }) => copied > 0.1],
  ['half-way', ({ copied = 0 }) => copied >= 0.5],
  ['with nearly all copied', ({ copied = 0 }) => copied >= 0.85],
  ['with all copied', ({ copied = 0 }) => copied === 1],
  ['once the destination is replaced', ({ isRenamed }) => isRenamed],
  ['once a source is removed', ({ sourcesLeft }) => sourcesLeft < 8],
  ['when it has answered', () => false],
])(
  '[POST /files/compose] a kill %s leaves the old file and all sources, or the complete new file (envd.md 18.27)',
  async (_moment, isTime) => {
    const { destination, sourcesLeft } = await killDuringCompose(isTime)
    expect(destination === 'new' || sourcesLeft === 8).toBe(true)
  },
  60_000,
)
