package javax.annotation;

/** Stands in for the annotation of the same name on what is generated, which no Java since version 11 has. */
public @interface Generated {
  String[] value();

  String comments() default "";
}
