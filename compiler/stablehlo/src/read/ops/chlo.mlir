// Meanings of operations of CHLO, written for scalars: types are those of the operand.
// Where f64 needs a formula of its own, its function ends in `.f64`. `polynomial` is by Horner's rule, the highest power first;
// those of `erfc` are named.

func.func @acos(%x: tensor<f32>) -> tensor<f32> {
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %a = stablehlo.subtract %one, %x : tensor<f32>
  %b = stablehlo.add %one, %x : tensor<f32>
  %c = stablehlo.multiply %a, %b : tensor<f32>
  %d = stablehlo.sqrt %c : tensor<f32>
  %y = stablehlo.atan2 %d, %x : tensor<f32>
  return %y : tensor<f32>
}
func.func @asin(%x: tensor<f32>) -> tensor<f32> {
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %a = stablehlo.subtract %one, %x : tensor<f32>
  %b = stablehlo.add %one, %x : tensor<f32>
  %c = stablehlo.multiply %a, %b : tensor<f32>
  %d = stablehlo.sqrt %c : tensor<f32>
  %y = stablehlo.atan2 %x, %d : tensor<f32>
  return %y : tensor<f32>
}
func.func @atan(%x: tensor<f32>) -> tensor<f32> {
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %y = stablehlo.atan2 %x, %one : tensor<f32>
  return %y : tensor<f32>
}
func.func @acosh(%x: tensor<f32>) -> tensor<f32> {
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %a = stablehlo.subtract %x, %one : tensor<f32>
  %b = stablehlo.add %x, %one : tensor<f32>
  %c = stablehlo.sqrt %a : tensor<f32>
  %d = stablehlo.sqrt %b : tensor<f32>
  %e = stablehlo.multiply %c, %d : tensor<f32>
  %f = stablehlo.add %a, %e : tensor<f32>
  %near = stablehlo.log_plus_one %f : tensor<f32>
  %large = stablehlo.constant dense<1.0e18> : tensor<f32>
  %is_large = stablehlo.compare GT, %x, %large : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %log2 = stablehlo.constant dense<0.69314718055994530942> : tensor<f32>
  %g = stablehlo.log %x : tensor<f32>
  %far = stablehlo.add %g, %log2 : tensor<f32>
  %y = stablehlo.select %is_large, %far, %near : tensor<i1>, tensor<f32>
  return %y : tensor<f32>
}
func.func @asinh(%x: tensor<f32>) -> tensor<f32> {
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %abs = stablehlo.abs %x : tensor<f32>
  %a = stablehlo.multiply %x, %x : tensor<f32>
  %b = stablehlo.add %a, %one : tensor<f32>
  %c = stablehlo.sqrt %b : tensor<f32>
  %d = stablehlo.add %c, %one : tensor<f32>
  %e = stablehlo.divide %a, %d : tensor<f32>
  %f = stablehlo.add %abs, %e : tensor<f32>
  %near = stablehlo.log_plus_one %f : tensor<f32>
  %large = stablehlo.constant dense<1.0e18> : tensor<f32>
  %is_large = stablehlo.compare GT, %abs, %large : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %log2 = stablehlo.constant dense<0.69314718055994530942> : tensor<f32>
  %safe = stablehlo.maximum %abs, %one : tensor<f32>
  %g = stablehlo.log %safe : tensor<f32>
  %far = stablehlo.add %g, %log2 : tensor<f32>
  %h = stablehlo.select %is_large, %far, %near : tensor<i1>, tensor<f32>
  %sign = stablehlo.sign %x : tensor<f32>
  %y = stablehlo.multiply %sign, %h : tensor<f32>
  return %y : tensor<f32>
}
func.func @atanh(%x: tensor<f32>) -> tensor<f32> {
  %minus = stablehlo.negate %x : tensor<f32>
  %a = stablehlo.log_plus_one %x : tensor<f32>
  %b = stablehlo.log_plus_one %minus : tensor<f32>
  %c = stablehlo.subtract %a, %b : tensor<f32>
  %half = stablehlo.constant dense<0.5> : tensor<f32>
  %y = stablehlo.multiply %c, %half : tensor<f32>
  return %y : tensor<f32>
}
func.func @cosh(%x: tensor<f32>) -> tensor<f32> {
  %log_half = stablehlo.constant dense<-0.69314718055994530942> : tensor<f32>
  %minus = stablehlo.negate %x : tensor<f32>
  %a = stablehlo.add %x, %log_half : tensor<f32>
  %b = stablehlo.add %minus, %log_half : tensor<f32>
  %c = stablehlo.exponential %a : tensor<f32>
  %d = stablehlo.exponential %b : tensor<f32>
  %y = stablehlo.add %c, %d : tensor<f32>
  return %y : tensor<f32>
}
func.func @sinh(%x: tensor<f32>) -> tensor<f32> {
  %log_half = stablehlo.constant dense<-0.69314718055994530942> : tensor<f32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %half = stablehlo.constant dense<0.5> : tensor<f32>
  %minus = stablehlo.negate %x : tensor<f32>
  %a = stablehlo.add %x, %log_half : tensor<f32>
  %b = stablehlo.add %minus, %log_half : tensor<f32>
  %c = stablehlo.exponential %a : tensor<f32>
  %d = stablehlo.exponential %b : tensor<f32>
  %far = stablehlo.subtract %c, %d : tensor<f32>
  %least = stablehlo.constant dense<-1.0> : tensor<f32>
  %inside = stablehlo.clamp %least, %x, %one : tensor<f32>
  %e = stablehlo.exponential_minus_one %inside : tensor<f32>
  %f = stablehlo.add %e, %one : tensor<f32>
  %g = stablehlo.divide %e, %f : tensor<f32>
  %h = stablehlo.add %e, %g : tensor<f32>
  %near = stablehlo.multiply %h, %half : tensor<f32>
  %abs = stablehlo.abs %x : tensor<f32>
  %is_near = stablehlo.compare LT, %abs, %one : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %y = stablehlo.select %is_near, %near, %far : tensor<i1>, tensor<f32>
  return %y : tensor<f32>
}
func.func @square(%x: tensor<f32>) -> tensor<f32> {
  %y = stablehlo.multiply %x, %x : tensor<f32>
  return %y : tensor<f32>
}
func.func @tan(%x: tensor<f32>) -> tensor<f32> {
  %y = stablehlo.tan %x : tensor<f32>
  return %y : tensor<f32>
}
func.func @is_inf(%x: tensor<f32>) -> tensor<i1> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %inf = stablehlo.divide %one, %zero : tensor<f32>
  %abs = stablehlo.abs %x : tensor<f32>
  %y = stablehlo.compare EQ, %abs, %inf : (tensor<f32>, tensor<f32>) -> tensor<i1>
  return %y : tensor<i1>
}
func.func @is_pos_inf(%x: tensor<f32>) -> tensor<i1> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %inf = stablehlo.divide %one, %zero : tensor<f32>
  %y = stablehlo.compare EQ, %x, %inf : (tensor<f32>, tensor<f32>) -> tensor<i1>
  return %y : tensor<i1>
}
func.func @is_neg_inf(%x: tensor<f32>) -> tensor<i1> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %one = stablehlo.constant dense<-1.0> : tensor<f32>
  %inf = stablehlo.divide %one, %zero : tensor<f32>
  %y = stablehlo.compare EQ, %x, %inf : (tensor<f32>, tensor<f32>) -> tensor<i1>
  return %y : tensor<i1>
}

func.func @erfc.f32(%x: tensor<f32>) -> tensor<f32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %two = stablehlo.constant dense<2.0> : tensor<f32>
  %erf = chlo.erf %x : tensor<f32> -> tensor<f32>
  %inner = stablehlo.subtract %one, %erf : tensor<f32>
  %abs = stablehlo.abs %x : tensor<f32>
  %a = stablehlo.multiply %x, %x : tensor<f32>
  %b = stablehlo.negate %a : tensor<f32>
  %z = stablehlo.exponential %b : tensor<f32>
  // Where the tail is not taken it stays finite, and so does its gradient.
  %safe = stablehlo.maximum %abs, %one : tensor<f32>
  %q = stablehlo.divide %one, %safe : tensor<f32>
  %w = stablehlo.multiply %q, %q : tensor<f32>
  %near = polynomial %w NEAR
  %far = polynomial %w FAR
  %is_near = stablehlo.compare LT, %abs, %two : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %p = stablehlo.select %is_near, %near, %far : tensor<i1>, tensor<f32>
  %c = stablehlo.multiply %z, %q : tensor<f32>
  %tail = stablehlo.multiply %c, %p : tensor<f32>
  %other = stablehlo.subtract %two, %tail : tensor<f32>
  %is_negative = stablehlo.compare LT, %x, %zero : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %outer = stablehlo.select %is_negative, %other, %tail : tensor<i1>, tensor<f32>
  %is_inner = stablehlo.compare LT, %abs, %one : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %y = stablehlo.select %is_inner, %inner, %outer : tensor<i1>, tensor<f32>
  return %y : tensor<f32>
}
func.func @erfc.f64(%x: tensor<f64>) -> tensor<f64> {
  %zero = stablehlo.constant dense<0.0> : tensor<f64>
  %one = stablehlo.constant dense<1.0> : tensor<f64>
  %two = stablehlo.constant dense<2.0> : tensor<f64>
  %eight = stablehlo.constant dense<8.0> : tensor<f64>
  %erf = chlo.erf %x : tensor<f64> -> tensor<f64>
  %inner = stablehlo.subtract %one, %erf : tensor<f64>
  %abs = stablehlo.abs %x : tensor<f64>
  %a = stablehlo.multiply %x, %x : tensor<f64>
  %b = stablehlo.negate %a : tensor<f64>
  %z = stablehlo.exponential %b : tensor<f64>
  %p = polynomial %abs P
  %q = polynomial %abs Q
  %r = polynomial %abs R
  %s = polynomial %abs S
  %is_near = stablehlo.compare LT, %abs, %eight : (tensor<f64>, tensor<f64>) -> tensor<i1>
  %c = stablehlo.select %is_near, %p, %r : tensor<i1>, tensor<f64>
  %d = stablehlo.select %is_near, %q, %s : tensor<i1>, tensor<f64>
  %e = stablehlo.divide %c, %d : tensor<f64>
  %f = stablehlo.multiply %z, %e : tensor<f64>
  %is_zero = stablehlo.compare EQ, %z, %zero : (tensor<f64>, tensor<f64>) -> tensor<i1>
  %tail = stablehlo.select %is_zero, %zero, %f : tensor<i1>, tensor<f64>
  %other = stablehlo.subtract %two, %tail : tensor<f64>
  %is_negative = stablehlo.compare LT, %x, %zero : (tensor<f64>, tensor<f64>) -> tensor<i1>
  %outer = stablehlo.select %is_negative, %other, %tail : tensor<i1>, tensor<f64>
  %is_inner = stablehlo.compare LT, %abs, %one : (tensor<f64>, tensor<f64>) -> tensor<i1>
  %y = stablehlo.select %is_inner, %inner, %outer : tensor<i1>, tensor<f64>
  return %y : tensor<f64>
}

// Coefficients of `erf_inv` are those of Giles, "Approximating the erfinv function".
func.func @erf_inv.f32(%x: tensor<f32>) -> tensor<f32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %inf = stablehlo.divide %one, %zero : tensor<f32>
  %minus = stablehlo.negate %x : tensor<f32>
  %a = stablehlo.multiply %x, %minus : tensor<f32>
  %b = stablehlo.log_plus_one %a : tensor<f32>
  %w = stablehlo.negate %b : tensor<f32>
  %five = stablehlo.constant dense<5.0> : tensor<f32>
  %middle = stablehlo.constant dense<2.5> : tensor<f32>
  %three = stablehlo.constant dense<3.0> : tensor<f32>
  %v = stablehlo.subtract %w, %middle : tensor<f32>
  %far_w = stablehlo.maximum %w, %five : tensor<f32>
  %c = stablehlo.sqrt %far_w : tensor<f32>
  %u = stablehlo.subtract %c, %three : tensor<f32>
  %near = polynomial %v [2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087, -0.00125372503, -0.00417768164, 0.246640727, 1.50140941]
  %far = polynomial %u [-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773, -0.0076224613, 0.00943887047, 1.00167406, 2.83297682]
  %is_near = stablehlo.compare LT, %w, %five : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %p = stablehlo.select %is_near, %near, %far : tensor<i1>, tensor<f32>
  %abs = stablehlo.abs %x : tensor<f32>
  %is_end = stablehlo.compare EQ, %abs, %one : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %q = stablehlo.select %is_end, %inf, %p : tensor<i1>, tensor<f32>
  %y = stablehlo.multiply %q, %x : tensor<f32>
  return %y : tensor<f32>
}
func.func @erf_inv.f64(%x: tensor<f64>) -> tensor<f64> {
  %zero = stablehlo.constant dense<0.0> : tensor<f64>
  %one = stablehlo.constant dense<1.0> : tensor<f64>
  %inf = stablehlo.divide %one, %zero : tensor<f64>
  %minus = stablehlo.negate %x : tensor<f64>
  %a = stablehlo.multiply %x, %minus : tensor<f64>
  %b = stablehlo.log_plus_one %a : tensor<f64>
  %w = stablehlo.negate %b : tensor<f64>
  %first_end = stablehlo.constant dense<6.25> : tensor<f64>
  %far_w = stablehlo.maximum %w, %first_end : tensor<f64>
  %c = stablehlo.sqrt %far_w : tensor<f64>
  %second_end = stablehlo.constant dense<16.0> : tensor<f64>
  %first_middle = stablehlo.constant dense<3.125> : tensor<f64>
  %second_middle = stablehlo.constant dense<3.25> : tensor<f64>
  %third_middle = stablehlo.constant dense<5.0> : tensor<f64>
  %t = stablehlo.subtract %w, %first_middle : tensor<f64>
  %u = stablehlo.subtract %c, %second_middle : tensor<f64>
  %v = stablehlo.subtract %c, %third_middle : tensor<f64>
  %first = polynomial %t [-3.6444120640178196996e-21, -1.685059138182016589e-19, 1.2858480715256400167e-18, 1.115787767802518096e-17, -1.333171662854620906e-16, 2.0972767875968561637e-17, 6.6376381343583238325e-15, -4.0545662729752068639e-14, -8.1519341976054721522e-14, 2.6335093153082322977e-12, -1.2975133253453532498e-11, -5.4154120542946279317e-11, 1.051212273321532285e-09, -4.1126339803469836976e-09, -2.9070369957882005086e-08, 4.2347877827932403518e-07, -1.3654692000834678645e-06, -1.3882523362786468719e-05, 0.0001867342080340571352, -0.00074070253416626697512, -0.0060336708714301490533, 0.24015818242558961693, 1.6536545626831027356]
  %second = polynomial %u [2.2137376921775787049e-09, 9.0756561938885390979e-08, -2.7517406297064545428e-07, 1.8239629214389227755e-08, 1.5027403968909827627e-06, -4.013867526981545969e-06, 2.9234449089955446044e-06, 1.2475304481671778723e-05, -4.7318229009055733981e-05, 6.8284851459573175448e-05, 2.4031110387097893999e-05, -0.0003550375203628474796, 0.00095328937973738049703, -0.0016882755560235047313, 0.0024914420961078508066, -0.0037512085075692412107, 0.005370914553590063617, 1.0052589676941592334, 3.0838856104922207635]
  %third = polynomial %v [-2.7109920616438573243e-11, -2.5556418169965252055e-10, 1.5076572693500548083e-09, -3.7894654401267369937e-09, 7.6157012080783393804e-09, -1.4960026627149240478e-08, 2.9147953450901080826e-08, -6.7711997758452339498e-08, 2.2900482228026654717e-07, -9.9298272942317002539e-07, 4.5260625972231537039e-06, -1.9681778105531670567e-05, 7.5995277030017761139e-05, -0.00021503011930044477347, -0.00013871931833623122026, 1.0103004648645343977, 4.8499064014085844221]
  %is_first = stablehlo.compare LT, %w, %first_end : (tensor<f64>, tensor<f64>) -> tensor<i1>
  %is_second = stablehlo.compare LT, %w, %second_end : (tensor<f64>, tensor<f64>) -> tensor<i1>
  %p = stablehlo.select %is_second, %second, %third : tensor<i1>, tensor<f64>
  %q = stablehlo.select %is_first, %first, %p : tensor<i1>, tensor<f64>
  %abs = stablehlo.abs %x : tensor<f64>
  %is_end = stablehlo.compare EQ, %abs, %one : (tensor<f64>, tensor<f64>) -> tensor<i1>
  %r = stablehlo.select %is_end, %inf, %q : tensor<i1>, tensor<f64>
  %y = stablehlo.multiply %r, %x : tensor<f64>
  return %y : tensor<f64>
}

// `lgamma` and its derivative by Lanczos' approximation, with g = 7 and nine coefficients.
func.func @lgamma(%x: tensor<f32>) -> tensor<f32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %half = stablehlo.constant dense<0.5> : tensor<f32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %pi = stablehlo.constant dense<3.14159265358979323846> : tensor<f32>
  %g = stablehlo.constant dense<7.5> : tensor<f32>
  %log_g = stablehlo.constant dense<2.01490302054226466> : tensor<f32>
  %is_low = stablehlo.compare LT, %x, %half : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %minus = stablehlo.negate %x : tensor<f32>
  %less = stablehlo.subtract %x, %one : tensor<f32>
  %z = stablehlo.select %is_low, %minus, %less : tensor<i1>, tensor<f32>
  %a0 = stablehlo.constant dense<0.99999999999980993227684700473478> : tensor<f32>
  %c1 = stablehlo.constant dense<676.520368121885098567009190444019> : tensor<f32>
  %n1 = stablehlo.constant dense<1.0> : tensor<f32>
  %d1 = stablehlo.add %z, %n1 : tensor<f32>
  %q1 = stablehlo.divide %c1, %d1 : tensor<f32>
  %a1 = stablehlo.add %a0, %q1 : tensor<f32>
  %c2 = stablehlo.constant dense<-1259.13921672240287047156078755283> : tensor<f32>
  %n2 = stablehlo.constant dense<2.0> : tensor<f32>
  %d2 = stablehlo.add %z, %n2 : tensor<f32>
  %q2 = stablehlo.divide %c2, %d2 : tensor<f32>
  %a2 = stablehlo.add %a1, %q2 : tensor<f32>
  %c3 = stablehlo.constant dense<771.3234287776530788486528258894> : tensor<f32>
  %n3 = stablehlo.constant dense<3.0> : tensor<f32>
  %d3 = stablehlo.add %z, %n3 : tensor<f32>
  %q3 = stablehlo.divide %c3, %d3 : tensor<f32>
  %a3 = stablehlo.add %a2, %q3 : tensor<f32>
  %c4 = stablehlo.constant dense<-176.61502916214059906584551354> : tensor<f32>
  %n4 = stablehlo.constant dense<4.0> : tensor<f32>
  %d4 = stablehlo.add %z, %n4 : tensor<f32>
  %q4 = stablehlo.divide %c4, %d4 : tensor<f32>
  %a4 = stablehlo.add %a3, %q4 : tensor<f32>
  %c5 = stablehlo.constant dense<12.507343278686904814458936853> : tensor<f32>
  %n5 = stablehlo.constant dense<5.0> : tensor<f32>
  %d5 = stablehlo.add %z, %n5 : tensor<f32>
  %q5 = stablehlo.divide %c5, %d5 : tensor<f32>
  %a5 = stablehlo.add %a4, %q5 : tensor<f32>
  %c6 = stablehlo.constant dense<-0.13857109526572011689554707> : tensor<f32>
  %n6 = stablehlo.constant dense<6.0> : tensor<f32>
  %d6 = stablehlo.add %z, %n6 : tensor<f32>
  %q6 = stablehlo.divide %c6, %d6 : tensor<f32>
  %a6 = stablehlo.add %a5, %q6 : tensor<f32>
  %c7 = stablehlo.constant dense<9.984369578019570859563e-6> : tensor<f32>
  %n7 = stablehlo.constant dense<7.0> : tensor<f32>
  %d7 = stablehlo.add %z, %n7 : tensor<f32>
  %q7 = stablehlo.divide %c7, %d7 : tensor<f32>
  %a7 = stablehlo.add %a6, %q7 : tensor<f32>
  %c8 = stablehlo.constant dense<1.50563273514931155834e-7> : tensor<f32>
  %n8 = stablehlo.constant dense<8.0> : tensor<f32>
  %d8 = stablehlo.add %z, %n8 : tensor<f32>
  %q8 = stablehlo.divide %c8, %d8 : tensor<f32>
  %a8 = stablehlo.add %a7, %q8 : tensor<f32>
  %t = stablehlo.add %z, %g : tensor<f32>
  %u = stablehlo.divide %z, %g : tensor<f32>
  %v = stablehlo.log_plus_one %u : tensor<f32>
  %log_t = stablehlo.add %v, %log_g : tensor<f32>
  %log_sqrt = stablehlo.constant dense<0.91893853320467274178> : tensor<f32>
  %e = stablehlo.add %z, %half : tensor<f32>
  %f = stablehlo.divide %t, %log_t : tensor<f32>
  %h = stablehlo.subtract %e, %f : tensor<f32>
  %i = stablehlo.multiply %h, %log_t : tensor<f32>
  %j = stablehlo.add %log_sqrt, %i : tensor<f32>
  %k = stablehlo.log %a8 : tensor<f32>
  %plain = stablehlo.add %j, %k : tensor<f32>
  // Where the reflection is not taken it stays finite, and so does its gradient.
  %abs = stablehlo.abs %x : tensor<f32>
  %whole = stablehlo.floor %abs : tensor<f32>
  %rest = stablehlo.subtract %abs, %whole : tensor<f32>
  %other = stablehlo.subtract %one, %rest : tensor<f32>
  %is_far = stablehlo.compare GT, %rest, %half : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %near = stablehlo.select %is_far, %other, %rest : tensor<i1>, tensor<f32>
  %inside = stablehlo.select %is_low, %near, %half : tensor<i1>, tensor<f32>
  %l = stablehlo.multiply %pi, %inside : tensor<f32>
  %m = stablehlo.sine %l : tensor<f32>
  %n = stablehlo.log %m : tensor<f32>
  %log_pi = stablehlo.constant dense<1.14472988584940017414> : tensor<f32>
  %o = stablehlo.subtract %log_pi, %n : tensor<f32>
  %p = stablehlo.subtract %o, %plain : tensor<f32>
  %is_open = stablehlo.is_finite %n : (tensor<f32>) -> tensor<i1>
  %q = stablehlo.negate %n : tensor<f32>
  %reflected = stablehlo.select %is_open, %p, %q : tensor<i1>, tensor<f32>
  %r = stablehlo.select %is_low, %reflected, %plain : tensor<i1>, tensor<f32>
  %inf = stablehlo.divide %one, %zero : tensor<f32>
  %is_inf = stablehlo.compare EQ, %abs, %inf : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %y = stablehlo.select %is_inf, %inf, %r : tensor<i1>, tensor<f32>
  return %y : tensor<f32>
}
func.func @digamma(%x: tensor<f32>) -> tensor<f32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %half = stablehlo.constant dense<0.5> : tensor<f32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %pi = stablehlo.constant dense<3.14159265358979323846> : tensor<f32>
  %g = stablehlo.constant dense<7.5> : tensor<f32>
  %log_g = stablehlo.constant dense<2.01490302054226466> : tensor<f32>
  %is_low = stablehlo.compare LT, %x, %half : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %minus = stablehlo.negate %x : tensor<f32>
  %less = stablehlo.subtract %x, %one : tensor<f32>
  %z = stablehlo.select %is_low, %minus, %less : tensor<i1>, tensor<f32>
  %a0 = stablehlo.constant dense<0.99999999999980993227684700473478> : tensor<f32>
  %c1 = stablehlo.constant dense<676.520368121885098567009190444019> : tensor<f32>
  %n1 = stablehlo.constant dense<1.0> : tensor<f32>
  %d1 = stablehlo.add %z, %n1 : tensor<f32>
  %q1 = stablehlo.divide %c1, %d1 : tensor<f32>
  %a1 = stablehlo.add %a0, %q1 : tensor<f32>
  %r1 = stablehlo.divide %q1, %d1 : tensor<f32>
  %c2 = stablehlo.constant dense<-1259.13921672240287047156078755283> : tensor<f32>
  %n2 = stablehlo.constant dense<2.0> : tensor<f32>
  %d2 = stablehlo.add %z, %n2 : tensor<f32>
  %q2 = stablehlo.divide %c2, %d2 : tensor<f32>
  %a2 = stablehlo.add %a1, %q2 : tensor<f32>
  %r2 = stablehlo.divide %q2, %d2 : tensor<f32>
  %s2 = stablehlo.add %r1, %r2 : tensor<f32>
  %c3 = stablehlo.constant dense<771.3234287776530788486528258894> : tensor<f32>
  %n3 = stablehlo.constant dense<3.0> : tensor<f32>
  %d3 = stablehlo.add %z, %n3 : tensor<f32>
  %q3 = stablehlo.divide %c3, %d3 : tensor<f32>
  %a3 = stablehlo.add %a2, %q3 : tensor<f32>
  %r3 = stablehlo.divide %q3, %d3 : tensor<f32>
  %s3 = stablehlo.add %s2, %r3 : tensor<f32>
  %c4 = stablehlo.constant dense<-176.61502916214059906584551354> : tensor<f32>
  %n4 = stablehlo.constant dense<4.0> : tensor<f32>
  %d4 = stablehlo.add %z, %n4 : tensor<f32>
  %q4 = stablehlo.divide %c4, %d4 : tensor<f32>
  %a4 = stablehlo.add %a3, %q4 : tensor<f32>
  %r4 = stablehlo.divide %q4, %d4 : tensor<f32>
  %s4 = stablehlo.add %s3, %r4 : tensor<f32>
  %c5 = stablehlo.constant dense<12.507343278686904814458936853> : tensor<f32>
  %n5 = stablehlo.constant dense<5.0> : tensor<f32>
  %d5 = stablehlo.add %z, %n5 : tensor<f32>
  %q5 = stablehlo.divide %c5, %d5 : tensor<f32>
  %a5 = stablehlo.add %a4, %q5 : tensor<f32>
  %r5 = stablehlo.divide %q5, %d5 : tensor<f32>
  %s5 = stablehlo.add %s4, %r5 : tensor<f32>
  %c6 = stablehlo.constant dense<-0.13857109526572011689554707> : tensor<f32>
  %n6 = stablehlo.constant dense<6.0> : tensor<f32>
  %d6 = stablehlo.add %z, %n6 : tensor<f32>
  %q6 = stablehlo.divide %c6, %d6 : tensor<f32>
  %a6 = stablehlo.add %a5, %q6 : tensor<f32>
  %r6 = stablehlo.divide %q6, %d6 : tensor<f32>
  %s6 = stablehlo.add %s5, %r6 : tensor<f32>
  %c7 = stablehlo.constant dense<9.984369578019570859563e-6> : tensor<f32>
  %n7 = stablehlo.constant dense<7.0> : tensor<f32>
  %d7 = stablehlo.add %z, %n7 : tensor<f32>
  %q7 = stablehlo.divide %c7, %d7 : tensor<f32>
  %a7 = stablehlo.add %a6, %q7 : tensor<f32>
  %r7 = stablehlo.divide %q7, %d7 : tensor<f32>
  %s7 = stablehlo.add %s6, %r7 : tensor<f32>
  %c8 = stablehlo.constant dense<1.50563273514931155834e-7> : tensor<f32>
  %n8 = stablehlo.constant dense<8.0> : tensor<f32>
  %d8 = stablehlo.add %z, %n8 : tensor<f32>
  %q8 = stablehlo.divide %c8, %d8 : tensor<f32>
  %a8 = stablehlo.add %a7, %q8 : tensor<f32>
  %r8 = stablehlo.divide %q8, %d8 : tensor<f32>
  %s8 = stablehlo.add %s7, %r8 : tensor<f32>
  %t = stablehlo.add %z, %g : tensor<f32>
  %u = stablehlo.divide %z, %g : tensor<f32>
  %v = stablehlo.log_plus_one %u : tensor<f32>
  %log_t = stablehlo.add %v, %log_g : tensor<f32>
  %seven = stablehlo.constant dense<7.0> : tensor<f32>
  %e = stablehlo.divide %s8, %a8 : tensor<f32>
  %f = stablehlo.divide %seven, %t : tensor<f32>
  %h = stablehlo.subtract %log_t, %e : tensor<f32>
  %plain = stablehlo.subtract %h, %f : tensor<f32>
  // Where the reflection is not taken it stays finite, and so does its gradient.
  %i = stablehlo.add %x, %half : tensor<f32>
  %j = stablehlo.floor %i : tensor<f32>
  %k = stablehlo.abs %j : tensor<f32>
  %l = stablehlo.add %x, %k : tensor<f32>
  %inside = stablehlo.select %is_low, %l, %half : tensor<i1>, tensor<f32>
  %m = stablehlo.multiply %pi, %inside : tensor<f32>
  %n = stablehlo.cosine %m : tensor<f32>
  %o = stablehlo.sine %m : tensor<f32>
  %p = stablehlo.multiply %pi, %n : tensor<f32>
  %is_pole = stablehlo.compare EQ, %inside, %zero : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %q = stablehlo.select %is_pole, %one, %o : tensor<i1>, tensor<f32>
  %r = stablehlo.divide %p, %q : tensor<f32>
  %reflected = stablehlo.subtract %plain, %r : tensor<f32>
  %u0 = stablehlo.select %is_low, %reflected, %plain : tensor<i1>, tensor<f32>
  %nan = stablehlo.divide %zero, %zero : tensor<f32>
  %w = stablehlo.floor %x : tensor<f32>
  %is_whole = stablehlo.compare EQ, %x, %w : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %is_least = stablehlo.compare LE, %x, %zero : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %is_none = stablehlo.and %is_whole, %is_least : tensor<i1>
  %y = stablehlo.select %is_none, %nan, %u0 : tensor<i1>, tensor<f32>
  return %y : tensor<f32>
}
