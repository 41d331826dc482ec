// How somebody wants the editor; what the browser remembers of it may be anything.

export interface Choices {
  vim: boolean;
  wrap: boolean;
  fontSize: number;
}

export const FONT_SIZES = [12, 13, 14, 16, 18, 20, 24];
export const DEFAULT_CHOICES: Choices = { vim: false, wrap: false, fontSize: 14 };

export function choicesOf(text: string | null): Choices {
  try {
    const { vim, wrap, fontSize } = JSON.parse(text ?? "{}");
    return {
      vim: vim === true,
      wrap: wrap === true,
      fontSize: FONT_SIZES.includes(fontSize) ? fontSize : DEFAULT_CHOICES.fontSize,
    };
  } catch {
    return DEFAULT_CHOICES;
  }
}
