/** The texts of screens/sandboxes. */
export const sandboxesTexts = {
  title: 'Sandboxes',
}
