/** Where the making of an image tells how it goes. */
export interface ImageProgress {
  /** A step that a person wants to know of: `building ...`. */
  step(line: string): void
  /** A line that a tool printed; shown only in passing. */
  detail(line: string): void
}
