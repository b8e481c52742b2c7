/** Receives the progress of an image build. */
export interface ImageProgress {
  /** A step to report to the user: `building ...`. */
  step(line: string): void
  /** A line of a tool's output; shown only until the next line. */
  detail(line: string): void
}
