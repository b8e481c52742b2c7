/** The forms of an action in code, for `CopyCode`. */
export interface ActionCode {
  readonly cli?: string
  readonly javascript?: string
  readonly python?: string
  readonly curl?: string
}
