/** The texts of screens/sandbox. */
export const sandboxTexts = {
  title: 'Sandbox',
}
