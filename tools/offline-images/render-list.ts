import type { ImageState } from './image-state.ts'
import type { StandIn } from './stand-in.ts'

const WORDS: Readonly<Record<ImageState, string>> = {
  missing: 'missing',
  theirs: 'there, not a stand-in',
  current: 'stand-in',
  outdated: 'stand-in, to be made again',
}

export interface ListedImage {
  readonly standIn: StandIn
  readonly state: ImageState
}

/** A table in columns, without a heading. */
export function renderList(images: readonly ListedImage[]): string {
  const rows = images.map(({ standIn, state }) => [standIn.image, WORDS[state], standIn.madeOf])
  const width = (column: number): number => Math.max(...rows.map((row) => row[column]?.length ?? 0))
  const [first, second] = [width(0), width(1)]
  return rows.map(([image = '', words = '', madeOf = '']) => `${image.padEnd(first)}  ${words.padEnd(second)}  ${madeOf}\n`).join('')
}
